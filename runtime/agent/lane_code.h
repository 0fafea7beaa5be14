#pragma once
// Acquires and releases the lane of a thread, in the code of a site. Tested by tests/unit/instrument/site_run_test.cpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/site_place.h"

namespace dvm::runtime {

class LaneCode {
 public:
  LaneCode(CodeWriter& code, const SitePlace& place) : code_(code), place_(place), context_(place.context) {}

  // Finds the lane by the thread id in the thread control block, if ArmedPage::armed is kAlone. %rbx: the lane, %rbp: its
  // distance from the first one, if it is kept, %rax: the id, %rcx: the data mapping. Returns the jumps of firings that are left
  // to agent_enter.
  std::vector<size_t> find_free(bool has_variables, bool keeps_distance);
  void take();
  // Finds the lane in the same way, whoever has taken it. Changes no register but %rax and %rbx.
  std::vector<size_t> find(bool has_variables);
  // The ring of the lane, in %rax. Changes %rcx.
  void find_ring();
  // The number of the arena, in %rax.
  void find_side();
  // The arena in %rbp, by its number in %rax. Call last. has_data: the address of the data mapping is in %rcx.
  void find_arena(bool has_data);
  // The time of a firing (inside/time.h), in %rdx. Changes %rax, %rcx and %r8. has_data: as above. Returns the jumps that are
  // taken if dvm publishes a line meanwhile, or if the last time of the thread is later.
  std::array<size_t, 2> find_time(bool has_data);
  // A signal handler that interrupted the firing may have forked. In the child, the armed page is empty and the lane belongs to
  // the parent. Returns the jump of the child. Changes %rax. has_data: as above.
  size_t jump_in_child(bool has_data = false);
  // Ends the run: no thread fires afterwards. Returns a jump to the end of the firing. Changes %rax.
  size_t end_run();
  void give_back(bool has_data = false);

 private:
  void other_if(unsigned char condition) { others_.push_back(code_.jump_ahead({0x0f, condition})); }
  void add_number(bool has_variables, bool has_data);  // the armed page is near the data mapping
  void add_distance(unsigned char to);
  void check_owner();
  void add_turn();

  CodeWriter& code_;
  const SitePlace& place_;
  const inside::Context& context_;
  std::vector<size_t> others_;
};

}  // namespace dvm::runtime
