// How a program says what it found.
#pragma once

namespace sample {

// Prints a result; the program's exit status, 0 if the value is the expected one.
int report(const char *what, double found, double expected);

}  // namespace sample
