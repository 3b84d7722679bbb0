#include "sample/report.h"

#include <cmath>
#include <cstdio>

namespace sample {

int report(const char *what, double found, double expected) {
  bool good = std::fabs(found - expected) <= 1e-3 * (1 + std::fabs(expected));
  std::printf("%s: %g%s\n", what, found, good ? "" : ", which is wrong");
  return good ? 0 : 1;
}

}  // namespace sample
