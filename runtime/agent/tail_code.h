#pragma once
// Makes calls of the functions of inside/tail_calls.h, in the code of a site. %rbx has the lane. A call changes the registers of
// the arguments, and %rax.
// Tested by tests/unit/instrument/site_run_test.cpp.

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/agent/code_bytes.h"
#include "runtime/agent/site_frame.h"
#include "runtime/agent/site_place.h"

namespace dvm::runtime {

class TailCode {
 public:
  TailCode(CodeWriter& code, SiteFrame& frame, const SitePlace& place) : code_(code), frame_(frame), place_(place) {}

  // First. %rbp: the distance of the lane from the first one.
  void find();
  void leave(uint64_t function) { call(function, place_.entries.leave); }
  // The jumps that are taken if the function was not left.
  std::array<size_t, 2> jumps_if_not_left(uint64_t function);
  void forget();

 private:
  void call(uint64_t function, uint64_t entry);
  size_t jump_if_none();

  CodeWriter& code_;
  SiteFrame& frame_;
  const SitePlace& place_;
};

}  // namespace dvm::runtime
