#pragma once
// The scheduler's time slice of a thread.

namespace dvm {

// Asks for the shortest slice for the calling thread: then it runs soon after it wakes up, even if others keep the CPU busy. Its
// share of the CPU does not change. Children get the usual slice, unless the thread has a negative nice value, which they would
// lose as well. False: the thread is scheduled otherwise. Kernels before 6.12 know no such slices, and change nothing.
bool ask_for_short_slice() noexcept;

}  // namespace dvm
