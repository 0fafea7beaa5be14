// Covered by tests/runtime/scenarios/test_recording.py.

#include "runtime/instrument/replay/recording_gaps.h"

#include <fmt/format.h>

#include <string_view>

namespace dvm::runtime {
namespace {

constexpr std::string_view kAsk = "; dvm record keeps that for a script that asks for it";

void add(std::vector<std::string>& lines, uint64_t firings, std::string_view what, std::string_view consequence,
         std::string_view advice) {
  if (firings == 0) return;
  lines.push_back(
      fmt::format("the recording has no {} for {} firing{}: {}{}", what, firings, firings > 1 ? "s" : "", consequence, advice));
}

}  // namespace

std::vector<std::string> RecordingGaps::take() {
  std::vector<std::string> lines;
  add(lines, stacks_, "user stack", "ustack() is empty there, ucaller and ustackdepth are 0", kAsk);
  add(lines, kernel_stacks_, "kernel stack", "stack() is empty there, caller and stackdepth are 0", kAsk);
  add(lines, times_, "CPU time", "vtimestamp is 0 there", kAsk);
  add(lines, goroutines_, "goroutine", "goid is 0 there", "; functions of Go that run in one have it");
  add(lines, registers_, "registers", "uregs[] is a fault there, and no recording keeps them", "");
  *this = {};
  return lines;
}

}  // namespace dvm::runtime
