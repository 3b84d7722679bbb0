# The coefficients in FROM, lowest power first, to a kernel in TO that evaluates the polynomial.
file(READ ${FROM} numbers)
string(STRIP "${numbers}" numbers)
string(REPLACE " " ";" numbers "${numbers}")
set(body "0.0f")
list(REVERSE numbers)
foreach(number ${numbers})
  set(body "(${body}) * x + ${number}.0f")
endforeach()
file(WRITE ${TO} "#include \"sample/device.cuh\"

__global__ void polynomial(float *values, int count) {
  int i = sample::index();
  if (i < count) {
    float x = values[i];
    values[i] = ${body};
  }
}
")
