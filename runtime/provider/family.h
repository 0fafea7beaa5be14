#pragma once
// The files of a process and of its descendants. Descriptions that name the process match all of them.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/process/emulated.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

class Family {
 public:
  explicit Family(ObjectsOf objects) : objects_of_(std::move(objects)) {}

  void add(int32_t root, int32_t pid) {
    if (pid != root) others_[root].insert(pid);
  }

  // Each file once. Removes processes that have ended.
  Result<std::vector<MappedObject>> objects(int32_t root) {
    auto all = is_emulated(root) ? Result<std::vector<MappedObject>>(Error{std::string(kEmulated)}) : objects_of_(root);
    const auto others = others_.find(root);
    if (others == others_.end()) return all;
    if (!all) all = std::vector<MappedObject>();
    std::erase_if(others->second, [&](int32_t pid) {
      const auto its = objects_of_(pid);
      if (its) merge(*its, *all);
      return !its || its->empty();
    });
    return all;
  }

 private:
  static void merge(const std::vector<MappedObject>& more, std::vector<MappedObject>& all) {
    for (const MappedObject& object : more)
      if (std::none_of(all.begin(), all.end(), [&](const MappedObject& one) { return one.path == object.path; }))
        all.push_back(object);
  }

  ObjectsOf objects_of_;
  std::map<int32_t, std::set<int32_t>> others_;  // by root
};

}  // namespace dvm::runtime
