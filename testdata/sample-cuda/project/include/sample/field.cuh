// The force that both simulations feel; defined in another file.
#pragma once

namespace sample {

__device__ float force(float position);

// Lets `count` positions drift by their velocities.
void drift(float *positions, const float *velocities, int count);

}  // namespace sample
