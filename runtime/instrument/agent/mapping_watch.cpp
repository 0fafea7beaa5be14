// Tested by tests/unit/instrument/placed_probes_test.cpp and tests/runtime/scenarios/test_lost_probes.py.

#include "runtime/instrument/agent/mapping_watch.h"

#include <functional>
#include <string>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMappingsEvery = 50'000'000, kSettlesWithin = 5'000'000;  // ns

// Changes with the files that a process executes, and with their addresses.
uint64_t signature_of(pid_t pid) {
  const auto objects = mapped_objects(pid);
  uint64_t all = 0;
  if (!objects) return all;
  for (const MappedObject& one : *objects) all = all * 0x9e37'79b9'7f4a'7c15 + (std::hash<std::string>()(one.path) ^ one.address);
  return all;
}

}  // namespace

void MappingWatch::add(pid_t pid) { processes_.try_emplace(pid, Watched{signature_of(pid), 0, false}); }

void MappingWatch::note(pid_t pid, uint64_t now) {
  Watched& its = processes_[pid];
  its.is_changing = true;
  its.next = now + kSettlesWithin;
}

std::vector<pid_t> MappingWatch::take_settled(uint64_t now) {
  std::vector<pid_t> settled;
  for (auto& [pid, its] : processes_) {
    if (now < its.next) continue;
    const uint64_t signature = signature_of(pid);
    const bool is_same = signature == its.signature;
    if (is_same && its.is_changing && signature != 0) settled.push_back(pid);
    its = {signature, now + (is_same ? kMappingsEvery : kSettlesWithin), !is_same};
  }
  return settled;
}

}  // namespace dvm::runtime
