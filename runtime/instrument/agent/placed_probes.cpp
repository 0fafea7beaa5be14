// Tested by tests/unit/instrument/placed_probes_test.cpp and tests/runtime/scenarios/test_lost_probes.py.

#include "runtime/instrument/agent/placed_probes.h"

#include <algorithm>
#include <utility>

namespace dvm::runtime {
namespace {

FileKey key_of(const std::string& path) {
  const auto key = FileKey::of(path);
  return key ? *key : FileKey();
}

}  // namespace

const FileKey& FileKeys::of(const std::string& path) {
  const auto [key, is_new] = keys_.try_emplace(path);
  if (is_new) key->second = key_of(path);
  return key->second;
}

void PlacedProbes::add(const EnabledProbe& enabled, uint64_t address, FileKeys& files) {
  const auto [placed, is_new] = probes_.try_emplace(enabled.probe->id, PlacedProbe{enabled, {}, {}, 0});
  if (is_new) placed->second.file = files.of(std::get<UprobeSite>(enabled.probe->site).path);
  placed->second.addresses.push_back(address);
  samples_.try_emplace(enabled.probe->module, address);
}

bool PlacedProbes::has_file(const std::string& path) const {
  const auto key = FileKey::of(path);
  return key && std::any_of(probes_.begin(), probes_.end(), [&](const auto& one) { return one.second.file == *key; });
}

void PlacedProbes::add_all_of(std::set<uint64_t>& addresses) const {
  for (const auto& [id, probe] : probes_) {
    const std::vector<uint64_t>& its = probe.addresses;
    if (std::any_of(its.begin(), its.end(), [&](uint64_t one) { return addresses.contains(one); }))
      addresses.insert(its.begin(), its.end());
  }
}

std::vector<PlacedProbe> PlacedProbes::take_lost(std::span<const uint64_t> jumps) {
  const auto lies = [&](uint64_t address) { return std::binary_search(jumps.begin(), jumps.end(), address); };
  std::vector<PlacedProbe> lost;
  for (auto one = probes_.begin(); one != probes_.end();) {
    if (std::all_of(one->second.addresses.begin(), one->second.addresses.end(), lies)) {
      ++one;
      continue;
    }
    lost.push_back(std::move(one->second));
    one = probes_.erase(one);
  }
  samples_.clear();
  for (const auto& [id, placed] : probes_) samples_.try_emplace(placed.enabled.probe->module, placed.addresses.front());
  return lost;
}

std::vector<EnabledProbe> enabled_of(std::span<const PlacedProbe> placed) {
  std::vector<EnabledProbe> all;
  for (const PlacedProbe& one : placed) all.push_back(one.enabled);
  return all;
}

bool is_mapped(const PlacedProbe& placed, std::span<const MappedObject> objects) {
  const std::string& path = std::get<UprobeSite>(placed.enabled.probe->site).path;
  return std::any_of(objects.begin(), objects.end(), [&](const MappedObject& one) {
    return one.open_path == path && one.address != 0 && key_of(path) == placed.file;
  });
}

}  // namespace dvm::runtime
