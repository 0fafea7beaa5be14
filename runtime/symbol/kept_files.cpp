// Tested by tests/runtime/scenarios/test_targets.py.
#include "runtime/symbol/kept_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <string_view>
#include <utility>

namespace dvm::runtime {
namespace {

constexpr std::string_view kDescriptors = "/proc/self/fd/";

bool is_same_place(const std::string& one, const char* other) {
  struct stat a {
  }, b{};
  return stat(one.c_str(), &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool sees_other_files(int32_t pid) {
  return !is_same_place(fmt::format("/proc/{}/ns/mnt", pid), "/proc/self/ns/mnt") ||
         !is_same_place(fmt::format("/proc/{}/root", pid), "/");
}

}  // namespace

void KeptFiles::keep(int32_t pid, std::vector<MappedObject>& objects) {
  if (!sees_other_files(pid)) return;
  for (MappedObject& object : objects) {
    const auto key = FileKey::of(object.open_path);
    if (!key) continue;
    auto known = files_.find(*key);
    if (known == files_.end()) {
      if (files_.size() == kMost) continue;
      auto file = RegularFile::open(object.open_path);
      if (!file) continue;
      known = files_.emplace(*key, std::move(*file)).first;
    }
    object.open_path = fmt::format("{}{}", kDescriptors, known->second.fd());
  }
}

std::string key_of(const MappedObject& object) {
  return object.open_path.starts_with(kDescriptors) ? object.open_path : object.path;
}

}  // namespace dvm::runtime
