// From an address to its function. Tested by tests/unit/instrument/user_symbols_test.cpp.

#include "runtime/symbol/user_symbols.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "runtime/symbol/demangle.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostAnswers = 1 << 18;
constexpr int64_t kReadAgain = 100'000'000;  // ns after which a map may have changed

std::string readable(std::string_view name) {
  std::string demangled = demangle_without_arguments(name);
  return demangled.empty() ? std::string(name) : demangled;
}

}  // namespace

void UserSymbols::learn(int32_t pid) { process(pid); }

void UserSymbols::learn_anew(int32_t pid) {
  processes_[pid].read_at = 0;
  process(pid);
}

void UserSymbols::inherit(int32_t child, int32_t parent) {
  const auto known = processes_.find(parent);
  if (known == processes_.end()) return;
  Process& process = processes_.insert_or_assign(child, Process{}).first->second;
  process.objects = known->second.objects;
  process.read_at = known->second.read_at;
}

void UserSymbols::renew(int32_t pid) {
  Process& known = processes_[pid];
  known.before = std::exchange(known.objects, {});
  learn_anew(pid);
}

void UserSymbols::use_recorded(int32_t pid, std::vector<MappedObject> objects) {
  is_recorded_ = true;
  processes_[pid].objects = std::move(objects);
}

void UserSymbols::use_recorded(int32_t pid, uint64_t address, UserSymbol symbol) {
  is_recorded_ = true;
  answers_.insert_or_assign({pid, address}, std::move(symbol));
}

const std::vector<MappedObject>& UserSymbols::objects(int32_t pid) { return process(pid).objects; }

UserSymbols::Process& UserSymbols::process(int32_t pid) {
  auto [entry, is_new] = processes_.try_emplace(pid);
  Process& known = entry->second;
  const auto time = static_cast<int64_t>(read_clock(CLOCK_MONOTONIC));
  if (is_recorded_ || (!is_new && time - known.read_at < kReadAgain)) return known;
  known.read_at = time;
  // A process that has ended keeps the map that it had.
  if (auto objects = mapped_objects(pid); objects && !objects->empty()) known.objects = std::move(*objects);
  known.generated.read(pid);
  return known;
}

// As the process opened it; once that is gone, by its name here.
const ElfObject* UserSymbols::elf(const MappedObject& object) {
  auto [entry, is_new] = files_.try_emplace(object.path);
  for (const std::string* path : {&object.open_path, &object.path}) {
    if (!is_new || entry->second || path->empty()) continue;
    if (auto read = cache_.read(*path)) entry->second = std::move(*read);
  }
  return entry->second.get();
}

std::optional<UserSymbol> UserSymbols::find_in(const Process& process, uint64_t address) {
  for (const auto* objects : {&process.objects, &process.before})
    if (auto symbol = find_in_file(*objects, address)) return symbol;
  const GeneratedFunction* function = process.generated.find(address);
  if (!function) return std::nullopt;
  return UserSymbol{process.generated.name(), function->name, function->address, process.generated.first_address()};
}

std::optional<UserSymbol> UserSymbols::find_in_file(const std::vector<MappedObject>& objects, uint64_t address) {
  const MappedObject* found = object_at(objects, address);
  if (!found) return std::nullopt;
  const MappedObject& object = *found;
  const ElfObject* file = elf(object);
  const auto in_file = file ? file->address_of(address - object.address + object.offset) : std::nullopt;
  const UserSymbol module{object.name, "", address, object.address};
  // A mapping begins at a page, a segment anywhere in it. The first address stands for the object as a key of umod().
  if (!in_file) return address == object.address ? std::optional(module) : std::nullopt;
  const ElfFunction* function = file->function_at(*in_file);
  if (!function) return module;
  return UserSymbol{object.name, readable(function->name), address - (*in_file - function->address), object.address};
}

std::optional<UserSymbol> UserSymbols::look_up(int32_t pid, uint64_t address) {
  const auto known = processes_.find(pid);
  if (known != processes_.end() && known->second.read_at != 0)
    if (auto symbol = find_in(known->second, address)) return symbol;
  return find_in(process(pid), address);
}

std::optional<UserSymbol> UserSymbols::find(int32_t pid, uint64_t address) {
  const std::pair key(pid, address);
  if (const auto answer = answers_.find(key); answer != answers_.end()) return answer->second;
  auto symbol = look_up(pid, address);
  if (symbol && answers_.size() < kMostAnswers) answers_.emplace(key, *symbol);
  return symbol;
}

std::vector<int32_t> UserSymbols::pids() const {
  std::vector<int32_t> all;
  for (const auto& [pid, process] : processes_) all.push_back(pid);
  return all;
}

}  // namespace dvm::runtime
