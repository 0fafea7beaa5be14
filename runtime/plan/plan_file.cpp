// Tested by tests/unit/runtime/plan_test.cpp.

#include "runtime/plan/plan_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "dvm/dif/program_file.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kMagic = "dvm plan\n";
constexpr uint32_t kVersion = 1;
constexpr uint64_t kMostString = 1u << 30;

template <class T>
void put(std::string& bytes, T value) {
  for (size_t i = 0; i < sizeof(T); i++) bytes += static_cast<char>(value >> (8 * i) & 0xff);
}

// The next number. There must be as many bytes.
template <class T>
T get(std::string_view& bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); i++) value |= static_cast<T>(T{static_cast<unsigned char>(bytes[i])} << (8 * i));
  bytes.remove_prefix(sizeof(T));
  return value;
}

Result<EcbPlan> make_again(uint32_t clause, uint64_t strsize, dif::Program program) {
  if (program.clauses.size() != 1) return Error{"it is not the plan of one clause"};
  dif::Options options;
  if (Status set = options.set("strsize", fmt::format("{}", strsize)); !set) return set.error();
  const auto find = [&](uint32_t id) -> const dif::AggregationDesc* {
    const auto same = [id](const dif::AggregationDesc& desc) { return desc.id == id; };
    const auto it = std::find_if(program.aggregations.begin(), program.aggregations.end(), same);
    return it == program.aggregations.end() ? nullptr : &*it;
  };
  return make_plan(clause, std::move(program.clauses.front()), find, options);
}

}  // namespace

std::string to_bytes(const EcbPlan& plan) {
  std::string bytes(kMagic);
  put(bytes, kVersion), put(bytes, uint32_t{plan.clause}), put(bytes, plan.strsize);
  dif::ProgramFile file;
  file.programs.push_back({"", false, {{plan.desc}, {}, plan.aggregations}});
  return bytes + dif::to_bytes(std::move(file));
}

Result<EcbPlan> plan_from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return Error{"it is not a plan of dvm"};
  bytes.remove_prefix(kMagic.size());
  if (bytes.size() < 2 * sizeof(uint32_t) + sizeof(uint64_t)) return Error{"it is cut short"};
  const auto version = get<uint32_t>(bytes), clause = get<uint32_t>(bytes);
  const auto strsize = get<uint64_t>(bytes);
  if (version != kVersion) return Error{fmt::format("it is of version {}, this dvm reads version {}", version, kVersion)};
  if (strsize > kMostString) return Error{fmt::format("its strings have {} characters", strsize)};
  Result<dif::ProgramFile> file = dif::from_bytes(bytes);
  if (!file) return file.error();
  if (file->programs.size() != 1) return Error{"it is not the plan of one clause"};
  return make_again(clause, strsize, std::move(file->programs.front().program));
}

}  // namespace dvm::runtime
