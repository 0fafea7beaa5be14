#pragma once
// Puts breakpoints in and takes them out, safe from a kill. If a fatal signal arrives while a thread does either, the kernel
// gives up half-way, and the remaining breakpoints stay in the traced process for good ("failed to unregister, leaking
// uprobe"). So a helper process does it, which shares dvm's memory and files but not its signals. If dvm is killed meanwhile,
// the helper finishes its one call and exits. Nothing then uses the files, and the kernel takes all probes off.

#include <type_traits>

namespace dvm::runtime {

// Returns when the helper has run work(argument). The work makes system calls and may change memory; it starts no threads.
void run_shielded(void (*work)(void*), void* argument);

template <class Work>
void shielded(Work&& work) {
  using Plain = std::remove_reference_t<Work>;
  run_shielded([](void* it) { (*static_cast<Plain*>(it))(); }, &work);
}

}  // namespace dvm::runtime
