// The library's host interface.
#pragma once

namespace sample {

// The sum of `count` floats on the device.
float sum(const float *values, int count);

// Multiplies `count` floats on the device.
void scale(float *values, int count, float factor);

// Squares `count` floats on the device. No program calls it.
void square(float *values, int count);

}  // namespace sample
