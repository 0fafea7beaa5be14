#pragma once
// Putting breakpoints in and taking them out, safe from a kill. A fatal signal that arrives while a thread does either makes the
// kernel give up half-way, and the breakpoints that are left stay in the traced process for good ("failed to unregister, leaking
// uprobe"). So a helper process does it: it shares dvm's memory and files but not its signals. When dvm is killed meanwhile, the
// helper finishes its one call and exits, and with the last user of the files gone, the kernel takes all probes off unhurried.

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
