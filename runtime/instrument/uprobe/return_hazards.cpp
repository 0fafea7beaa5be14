// Tested by tests/unit/instrument/return_plan_test.cpp.
#include "runtime/instrument/uprobe/return_hazards.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {

namespace {

bool executes_others(const LinkedFile& program) {
  constexpr std::string_view kNames[] = {"execve", "execv",  "execvp",  "execvpe", "execl",
                                         "execle", "execlp", "fexecve", "execveat"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return program.imports.contains(std::string(name)); });
}

}  // namespace

const LinkedFile& HazardReader::read(const MappedObject& object) {
  static const LinkedFile kUnknown;
  const auto key = FileKey::of(object.open_path);
  if (!key) return kUnknown;
  const auto [file, is_new] = files_.try_emplace({*key, object.is_program});
  if (is_new) file->second = LinkedFile::read(object);
  return file->second;
}

std::optional<ReturnHazards> HazardReader::of(int32_t pid) {
  const auto objects = mapped_objects(pid);
  if (!objects) return std::nullopt;
  std::vector<const LinkedFile*> files;
  std::string wrapper;
  for (const MappedObject& object : *objects) {
    files.push_back(&read(object));
    if (object.is_program && executes_others(*files.back()) && is_own_child(pid)) wrapper = object.open_path;
  }
  return ReturnHazards{can_throw(files), can_switch_stacks(files), can_handle_above(files), std::move(wrapper)};
}

}  // namespace dvm::runtime
