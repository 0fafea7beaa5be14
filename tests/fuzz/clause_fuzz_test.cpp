// Engines do the same whatever clauses they run: records, faults, drops, state of aggregations, counts, and the memory of
// variables.
//
// DIF sees addresses, so each engine runs in a process of its own: both are forked from one that has planned the clauses and made
// the context, and so have everything at the same place.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "runtime/plan/plan.h"
#include "runtime/probe/enter.h"
#include "runtime/probe/fire.h"
#include "runtime/probe/prepare.h"
#include "tests/fuzz/outcomes.h"
#include "tests/fuzz/random_difo.h"
#include "tests/support/engine.h"
#include "tests/unit/runtime/programs.h"
#include "vm/state/state.h"

namespace dvm::fuzz {
namespace {

using dif::Action;
using namespace runtime;

constexpr unsigned kFirings = 6;
constexpr size_t kMostClauses = 200;

// What a clause left, each as a hash; and how its firings ended.
struct Outcome {
  uint64_t records, aggregations, drops, counts, memory, variables, hits, faults, bytes, errors, exits;
};

std::string to_text(const Outcome& o) {
  return fmt::format(
      "records {:#x}, {} bytes, aggregations {:#x}, drops {}, counts {:#x}, memory {:#x}, variables {:#x}, hits {}, faults {}, "
      "errors in ERROR {}, exits {:#x}",
      o.records, o.bytes, o.aggregations, o.drops, o.counts, o.memory, o.variables, o.hits, o.faults, o.errors, o.exits);
}

// FNV-1a.
uint64_t hash(std::span<const std::byte> bytes, uint64_t before = 0xcbf29ce484222325) {
  for (const std::byte byte : bytes) before = (before ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  return before;
}
template <class T>
uint64_t hash_of(const T& all, uint64_t before) {
  return hash(std::as_bytes(std::span(all)), before);
}

// A record of an error has padding, which means nothing.
uint64_t hash_record(std::span<const std::byte> record, uint64_t before) {
  if (header_of(record.data()).epid != 0) return hash(record, before);
  ErrorRecord error;
  std::memcpy(&error, record.data(), sizeof(error));
  const uint64_t words[] = {error.header.order, error.epid, error.action, error.offset, static_cast<uint64_t>(error.fault),
                            error.value};
  return hash_of(words, before);
}

// Clauses at random: DIFOs of every kind of result, in every kind of action.
class ClauseMaker {
 public:
  explicit ClauseMaker(uint32_t seed) : maker_(seed), seeds_(conformance_difos()) {}

  dif::EcbDesc clause() {
    dif::EcbDesc made = runtime::test::clause("f", {});
    if (maker_.below(3) == 0) made.predicate = dif::PredDesc{difo(runtime::test::kInt)};
    for (unsigned n = maker_.below(4); n-- > 0;) made.actions.push_back(action());
    return made;
  }

  // One of each function, with and without keys.
  static std::vector<dif::AggregationDesc> aggregations() {
    std::vector<dif::AggregationDesc> all;
    for (const dif::AggregationInfo& info : dif::kAggregations) {
      const auto id = static_cast<uint32_t>(all.size());
      std::vector<int64_t> parameters;
      if (info.id == Action::agg_lquantize) parameters = {0, 100, 10};
      if (info.id == Action::agg_llquantize) parameters = {10, 0, 3, 10};
      all.push_back(runtime::test::declare(id + 1, info.id, {}, parameters));
      all.push_back(runtime::test::declare(id + 2, info.id, {runtime::test::kString, kShort}, parameters));
    }
    return all;
  }

 private:
  static inline const dif::DataType kShort{dif::TypeKind::integer, true, false, 2, "short"};
  static inline const dif::DataType kChar{dif::TypeKind::integer, false, false, 1, "uint8_t"};
  static inline const dif::DataType kBytes{dif::TypeKind::bytes, false, false, 24, "struct s"};

  dif::DataType any_type() {
    const dif::DataType all[] = {runtime::test::kInt, runtime::test::kLong, runtime::test::kString, kShort, kChar, kBytes};
    return all[maker_.below(6)];
  }
  dif::DataType integer_type() {
    const dif::DataType all[] = {runtime::test::kInt, runtime::test::kLong, kShort, kChar};
    return all[maker_.below(4)];
  }

  // Some that do what people write, some of likely words, some damaged.
  dif::Difo difo(const dif::DataType& type) {
    dif::Difo made;
    do {
      switch (maker_.below(4)) {
        case 0:
          made = maker_.likely_difo();
          break;
        case 1:
          made = seeds_[maker_.below(static_cast<unsigned>(seeds_.size()))];
          maker_.mutate(made);
          break;
        default:
          made = type.kind == dif::TypeKind::integer ? runtime::test::built_in(dif::BuiltIn::arg0)
                                                     : runtime::test::copyinstr(0x1000 * maker_.below(3));
      }
      made.variables = all_kinds();
    } while (std::holds_alternative<std::vector<vm::VerifyError>>(vm::verify(made)));
    made.result = type;
    return made;
  }

  dif::ActDesc aggregating() {
    const dif::AggregationInfo& info = dif::kAggregations[maker_.below(dif::kAggregations.size())];
    const auto at = static_cast<uint32_t>(&info - dif::kAggregations.data());
    const bool has_keys = maker_.below(2) == 0;
    std::vector<dif::Difo> values;
    if (has_keys) values = {difo(runtime::test::kString), difo(kShort)};
    if (info.id != Action::agg_count) values.push_back(difo(integer_type()));
    if (info.histogram && maker_.below(3) == 0) values.push_back(difo(integer_type()));
    return runtime::test::aggregate(info.id, 2 * at + (has_keys ? 2 : 1), std::move(values), has_keys ? 2 : 0);
  }

  dif::ActDesc with_values(Action kind, unsigned count) {
    std::vector<dif::Difo> values;
    while (count-- > 0) values.push_back(difo(any_type()));
    return kind == Action::printf ? runtime::test::print("", std::move(values)) : runtime::test::action(kind, std::move(values));
  }

  dif::ActDesc action() {
    switch (maker_.below(8)) {
      case 0:
        return with_values(Action::expression, 1);
      case 1:
        return with_values(Action::trace, 1);
      case 2:
        return runtime::test::action(maker_.below(2) ? Action::speculate : Action::commit, {difo(runtime::test::kInt)});
      case 3:
        return runtime::test::action(maker_.below(2) ? Action::discard : Action::exit, {difo(runtime::test::kInt)});
      case 4:
        return runtime::test::action(Action::tracemem, {difo(kBytes)});
      case 5:
        return with_values(Action::printf, maker_.below(5));
      default:
        return aggregating();
    }
  }

  Maker maker_;
  std::vector<dif::Difo> seeds_;
};


}  // namespace
}  // namespace dvm::fuzz
