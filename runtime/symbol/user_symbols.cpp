// From an address to its function or variable. Tested by tests/unit/instrument/user_symbols_test.cpp.

#include "runtime/symbol/user_symbols.h"

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "common/kernel_address.h"
#include "runtime/symbol/demangle.h"
#include "runtime/symbol/kernel_symbols.h"
#include "runtime/symbol/source_places.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostAnswers = 1 << 18;
constexpr size_t kMostUnnamed = 1 << 12;
constexpr size_t kMostBefore = 1 << 10;
constexpr uint64_t kFarthestData = 1ULL << 31;  // from code, as x86-64 addresses it
constexpr int64_t kReadAgain = 100'000'000;     // ns after which a map may have changed
constexpr int64_t kReadForOne = 10'000'000;     // ns after which it is read for an address that is not in it
constexpr int64_t kRestAfterReading = 20;       // times as long as that took

bool is_same(const MappedObject& a, const MappedObject& b) { return a.address == b.address && a.path == b.path; }

bool has(const std::vector<MappedObject>& objects, const MappedObject& object) {
  return std::any_of(objects.begin(), objects.end(), [&](const MappedObject& one) { return is_same(one, object); });
}

// Adds what is no longer mapped to what was mapped before.
void keep_closed(std::vector<MappedObject>& before, std::vector<MappedObject>& old, const std::vector<MappedObject>& now) {
  for (MappedObject& object : old)
    if (before.size() < kMostBefore && !has(now, object) && !has(before, object)) before.push_back(std::move(object));
  std::sort(before.begin(), before.end(), [](const MappedObject& a, const MappedObject& b) { return a.address < b.address; });
}

std::optional<uint64_t> address_in(const ElfObject* file, const MappedObject& object, uint64_t address) {
  return file != nullptr ? file->address_of(address - object.address + object.offset) : std::nullopt;
}

template <typename Symbol>
UserSymbol symbol_of(const MappedObject& object, const Symbol& symbol, uint64_t address, uint64_t in_file) {
  return {object.name, std::string(symbol.name), address - (in_file - symbol.address), object.address};
}

}  // namespace

UserSymbols::UserSymbols() = default;
UserSymbols::~UserSymbols() = default;

void UserSymbols::learn(int32_t pid) {
  if (pid != kKernelPid) process(pid, kReadAgain);
}

void UserSymbols::learn_anew(int32_t pid) {
  processes_[pid].read_at = 0;
  processes_[pid].took = 0;
  process(pid, 0);
}

void UserSymbols::inherit(int32_t child, int32_t parent) {
  const auto known = processes_.find(parent);
  if (known == processes_.end()) return;
  KnownProcess& process = processes_.insert_or_assign(child, KnownProcess{}).first->second;
  process.objects = known->second.objects;
  process.read_at = known->second.read_at;
}

void UserSymbols::renew(int32_t pid) {
  KnownProcess& known = processes_[pid];
  known.before = std::exchange(known.objects, {});
  learn_anew(pid);
  forget_doubtful(pid, known);
}

void UserSymbols::use_recorded(int32_t pid, std::vector<MappedObject> objects) {
  is_recorded_ = true;
  processes_[pid].objects = std::move(objects);
}

void UserSymbols::use_recorded(int32_t pid, uint64_t address, UserSymbol symbol) {
  is_recorded_ = true;
  answers_.insert_or_assign({pid, address}, std::move(symbol));
}

const std::vector<MappedObject>& UserSymbols::objects(int32_t pid) { return process(pid, kReadAgain).objects; }

UserSymbols::KnownProcess& UserSymbols::process(int32_t pid, int64_t least_age) {
  auto [entry, is_new] = processes_.try_emplace(pid);
  KnownProcess& known = entry->second;
  const int64_t age = static_cast<int64_t>(read_clock(CLOCK_MONOTONIC)) - known.read_at;
  if (!is_recorded_ && (is_new || age >= std::max(least_age, kRestAfterReading * known.took))) read(pid, known);
  return known;
}

// A process that has ended keeps the map that it had.
void UserSymbols::read(int32_t pid, KnownProcess& known) {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (auto objects = mapped_objects(pid); objects && !objects->empty()) {
    kept_.keep(pid, *objects);
    const size_t closed = known.before.size();
    keep_closed(known.before, known.objects, *objects);
    known.objects = std::move(*objects);
    if (known.before.size() != closed) forget_doubtful(pid, known);
  }
  known.generated.read(pid);
  known.read_at = static_cast<int64_t>(read_clock(CLOCK_MONOTONIC));
  known.took = static_cast<int64_t>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);  // on a busy machine less than has passed
}

// Opens the file as the process did or, if that is gone, by its name here.
const ElfObject* UserSymbols::elf(const MappedObject& object) {
  auto [entry, is_new] = files_.try_emplace(key_of(object));
  for (const std::string* path : {&object.open_path, &object.path}) {
    if (!is_new || entry->second || path->empty()) continue;
    if (auto read = cache_.read(*path)) entry->second = std::move(*read);
  }
  return entry->second.get();
}

void UserSymbols::forget_doubtful(int32_t pid, const KnownProcess& known) {
  std::erase_if(answers_,
                [&](const auto& answer) { return answer.first.first == pid && is_doubtful(known, answer.first.second); });
}

// Two files have lain there, one after the other.
bool UserSymbols::is_doubtful(const KnownProcess& process, uint64_t address) {
  const MappedObject *now = object_at(process.objects, address), *before = object_at(process.before, address);
  if (now == nullptr || before == nullptr || now->path == before->path) return false;
  return find_in_file(process.objects, address) && find_in_file(process.before, address);
}

std::optional<UserSymbol> UserSymbols::find_in(const KnownProcess& process, uint64_t address) {
  if (is_doubtful(process, address)) return std::nullopt;
  for (const auto* objects : {&process.objects, &process.before})
    if (auto symbol = find_in_file(*objects, address)) return symbol;
  if (auto symbol = find_data(process.objects, address)) return symbol;
  const GeneratedFunction* function = process.generated.find(address);
  if (!function) return std::nullopt;
  return UserSymbol{process.generated.name(), std::string(function->name), function->address, process.generated.first_address()};
}

std::optional<UserSymbol> UserSymbols::find_in_file(const std::vector<MappedObject>& objects, uint64_t address) {
  const MappedObject* found = object_at(objects, address);
  if (!found) return std::nullopt;
  const MappedObject& object = *found;
  const ElfObject* file = elf(object);
  const std::optional<uint64_t> in_file = address_in(file, object, address);
  const UserSymbol module{object.name, "", address, object.address};
  // A mapping begins at a page, a segment anywhere in it. The first address stands for the object as a key of umod().
  if (!in_file) return address == object.address ? std::optional(module) : std::nullopt;
  if (const ElfFunction* function = file->function_at(*in_file)) return symbol_of(object, *function, address, *in_file);
  if (const ElfData* data = file->data_at(*in_file)) return symbol_of(object, *data, address, *in_file);
  return module;
}

// Data lies behind the code of its file or, such as constants, before it, where code can address it. Only files that are mapped
// now count: where one was, the process may by now have anything of its own.
std::optional<UserSymbol> UserSymbols::find_data(const std::vector<MappedObject>& objects, uint64_t address) {
  const MappedObject* before = object_at(objects, address);
  const size_t first = before == nullptr ? 0 : static_cast<size_t>(before - objects.data());
  for (size_t i = first; i < objects.size() && i < first + 2; i++) {
    const MappedObject& object = objects[i];
    if (std::max(address, object.address) - std::min(address, object.address) > kFarthestData) continue;
    const ElfObject* file = elf(object);
    const std::optional<uint64_t> bias = file != nullptr ? file->bias(object.address, object.offset) : std::nullopt;
    if (!bias || !file->is_loaded(address - *bias)) continue;
    if (const ElfData* data = file->data_at(address - *bias)) return symbol_of(object, *data, address, address - *bias);
    return UserSymbol{object.name, "", address, object.address};
  }
  return std::nullopt;
}

// The file that elf() has opened.
SourcePlaces* UserSymbols::source(const MappedObject& object) {
  auto [entry, is_new] = sources_.try_emplace(key_of(object));
  for (const std::string* path : {&object.open_path, &object.path})
    if (is_new && !entry->second && !path->empty()) entry->second = SourcePlaces::open(*path, demangles_);
  return entry->second.get();
}

const std::vector<SourcePlace>& UserSymbols::places(int32_t pid, uint64_t address) {
  auto [entry, is_new] = places_.try_emplace({pid, address});
  const auto known = processes_.find(pid);
  if (!is_new || is_recorded_ || known == processes_.end()) return entry->second;
  for (const auto* objects : {&known->second.objects, &known->second.before}) {
    const MappedObject* object = object_at(*objects, address);
    if (object == nullptr) continue;
    const std::optional<uint64_t> in_file = address_in(elf(*object), *object, address);
    SourcePlaces* places = in_file ? source(*object) : nullptr;
    if (places != nullptr) entry->second = places->at(*in_file);
    if (in_file) break;
  }
  return entry->second;
}

std::optional<UserSymbol> UserSymbols::find_in_kernel(uint64_t address) {
  if (is_recorded_) return std::nullopt;
  const KernelSymbols& kernel = KernelSymbols::of_this_kernel();
  misses_kernel_ |= kernel.is_hidden();
  const auto symbol = kernel.find(address);
  if (!symbol) return std::nullopt;
  return UserSymbol{std::string(symbol->module), std::string(symbol->function), symbol->address, symbol->module_address};
}

std::optional<UserSymbol> UserSymbols::look_up(int32_t pid, uint64_t address) {
  if (pid == kKernelPid) return find_in_kernel(address);
  const auto known = processes_.find(pid);
  if (known != processes_.end() && known->second.read_at != 0)
    if (auto symbol = find_in(known->second, address)) return symbol;
  return find_in(process(pid, kReadForOne), address);
}

const std::string& UserSymbols::readable(const std::string& symbol) {
  auto [entry, is_new] = readable_.try_emplace(symbol);
  if (is_new) entry->second = demangle_without_arguments(symbol);
  return entry->second.empty() ? symbol : entry->second;
}

std::optional<UserSymbol> UserSymbols::find(int32_t pid, uint64_t address) {
  std::optional<UserSymbol> symbol = find_symbol(pid, address);
  if (symbol && demangles_ && symbol->function.starts_with('_')) symbol->function = readable(symbol->function);
  return symbol;
}

std::optional<UserSymbol> UserSymbols::find_symbol(int32_t pid, uint64_t address) {
  const std::pair key(pid, address);
  if (const auto answer = answers_.find(key); answer != answers_.end()) return answer->second;
  auto symbol = look_up(pid, address);
  if (symbol && answers_.size() < kMostAnswers) answers_.emplace(key, *symbol);
  return symbol;
}

void UserSymbols::meet(int32_t pid, uint64_t address) {
  if (pid != kKernelPid) process(pid, kReadAgain);
  if (find(pid, address) || pid == kKernelPid || is_recorded_ || unnamed_.size() == kMostUnnamed) return;
  unnamed_.push_back({pid, address, static_cast<int64_t>(read_clock(CLOCK_MONOTONIC))});
}

void UserSymbols::meet_again() {
  std::erase_if(unnamed_, [this](const Unnamed& one) {
    if (process(one.pid, kReadForOne).read_at <= one.asked_at) return false;
    find(one.pid, one.address);
    return true;
  });
}

std::vector<int32_t> UserSymbols::pids() const {
  std::vector<int32_t> all;
  for (const auto& [pid, process] : processes_) all.push_back(pid);
  return all;
}

}  // namespace dvm::runtime
