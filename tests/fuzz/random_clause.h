#pragma once
// Clauses made at random. A seed gives the same ones each time.

#include <array>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dvm/dif/action.h"
#include "dvm/dif/text.h"
#include "tests/fuzz/random_difo.h"
#include "tests/unit/runtime/programs.h"

namespace dvm::fuzz {

using dif::Action;

// Clauses at random: DIFOs of every kind of result, in every kind of action.
class ClauseMaker {
 public:
  explicit ClauseMaker(uint32_t seed) : maker_(seed), seeds_(conformance_difos()) {}

  dif::EcbDesc clause() {
    if (maker_.below(5) == 0) return light_clause();
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

  dif::Difo of_variables(const char* text) {
    const auto made = dif::assemble(std::string("g 500 scl glb r/w int64\nt 506 scl tls r/w int64\n") + text + "ret %r1\n");
    require(bool{made}, "DIF of variables");
    return *made;
  }
  // Loads and stores a global and loads a thread-local variable, or changes the latter.
  dif::Difo of_variables() {
    const char* texts[] = {"ldts t, %r1\nldgs g, %r2\nadd %r1, %r2, %r1\nldgs arg0, %r2\nadd %r1, %r2, %r1\nstgs %r1, g\n",
                           "ldgs arg3, %r1\nstts %r1, t\n"};
    return of_variables(texts[maker_.below(2)]);
  }
  // @ = sum(t + arg0), mostly where t is set or g and arg0 have a bit in common.
  dif::EcbDesc light_clause() {
    dif::Difo sum = of_variables("ldts t, %r1\nldgs arg0, %r2\nadd %r1, %r2, %r1\n"),
              holds = of_variables(maker_.below(2) ? "ldts t, %r1\n" : "ldgs g, %r1\nldgs arg0, %r2\nand %r1, %r2, %r1\n");
    for (dif::Difo* each : {&sum, &holds}) each->variables = all_kinds(), each->result = runtime::test::kLong;
    dif::EcbDesc made = runtime::test::clause("f", {runtime::test::aggregate(Action::agg_sum, id_of_sum(), {sum}, 0)});
    if (maker_.below(4) != 0) made.predicate = dif::PredDesc{holds};
    return made;
  }

  dif::Difo of_likely_words(const dif::DataType&) { return maker_.likely_difo(); }
  dif::Difo damaged(const dif::DataType&) {
    dif::Difo made = seeds_[maker_.below(static_cast<unsigned>(seeds_.size()))];
    maker_.mutate(made);
    return made;
  }
  dif::Difo changing_variables(const dif::DataType& type) {
    return type.kind == dif::TypeKind::integer ? of_variables() : usual(type);
  }
  // Values as people write them.
  dif::Difo usual(const dif::DataType& type) {
    return type.kind == dif::TypeKind::integer ? runtime::test::built_in(dif::BuiltIn::arg0)
                                               : runtime::test::copyinstr(0x1000 * maker_.below(3));
  }

  template <class Make>
  struct Feature {
    unsigned weight;
    Make make;
  };

  // The sources of the DIF of values, with the frequency of each.
  static constexpr auto sources() {
    return std::to_array<Feature<dif::Difo (ClauseMaker::*)(const dif::DataType&)>>({{1, &ClauseMaker::of_likely_words},
                                                                                     {1, &ClauseMaker::damaged},
                                                                                     {1, &ClauseMaker::changing_variables},
                                                                                     {2, &ClauseMaker::usual}});
  }
  template <class Features>
  auto choose(const Features& features) {
    unsigned sum = 0;
    for (const auto& feature : features) sum += feature.weight;
    const auto* at = features.data();
    for (unsigned left = maker_.below(sum); left >= at->weight; at++) left -= at->weight;
    return at->make;
  }

  dif::Difo difo(const dif::DataType& type) {
    dif::Difo made;
    do {
      made = (this->*choose(sources()))(type);
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

  template <Action kind>
  dif::ActDesc with_value() {
    return with_values(kind, 1);
  }
  template <Action kind>
  dif::ActDesc with_number() {
    return runtime::test::action(kind, {difo(runtime::test::kInt)});
  }
  dif::ActDesc dumping() { return runtime::test::action(Action::tracemem, {difo(kBytes)}); }
  dif::ActDesc printing() { return with_values(Action::printf, maker_.below(5)); }

  // A stack or a symbol, as the action makes it.
  dif::ActDesc making(Action kind) {
    dif::ActDesc made = with_values(kind, 1);
    made.args[0].difo.result = runtime::test::kLong;
    made.args[0].made_by = kind == Action::jstack ? Action::ustack : kind;
    made.args[0].frames = maker_.below(6);
    return made;
  }
  // Any that dvm supports.
  dif::ActDesc of_the_table() {
    const dif::ActionInfo& row = dif::kActions[maker_.below(dif::kActions.size())];
    if (!row.unsupported.empty()) return of_the_table();
    if (dif::is_stack(row.id) || dif::is_symbol(row.id) || row.id == Action::jstack) return making(row.id);
    // Not for long, since it waits.
    if (row.id == Action::chill) return runtime::test::action(row.id, {runtime::test::constant(maker_.below(3))});
    if (row.when == dif::ActionTime::consumer) return runtime::test::on_aggregations(row.id, {1}, {difo(any_type())});
    return with_values(row.id, 1);
  }

  // The actions of clauses, with the frequency of each.
  static constexpr auto actions() {
    return std::to_array<Feature<dif::ActDesc (ClauseMaker::*)()>>({{2, &ClauseMaker::with_value<Action::expression>},
                                                                    {2, &ClauseMaker::with_value<Action::trace>},
                                                                    {1, &ClauseMaker::with_number<Action::speculate>},
                                                                    {1, &ClauseMaker::with_number<Action::commit>},
                                                                    {1, &ClauseMaker::with_number<Action::discard>},
                                                                    {1, &ClauseMaker::with_number<Action::exit>},
                                                                    {2, &ClauseMaker::dumping},
                                                                    {2, &ClauseMaker::printing},
                                                                    {4, &ClauseMaker::of_the_table},
                                                                    {4, &ClauseMaker::aggregating}});
  }
  dif::ActDesc action() { return (this->*choose(actions()))(); }

  // The id of the sum without keys.
  static uint32_t id_of_sum() {
    const auto* const found = dif::find_aggregation(Action::agg_sum);
    return 2 * static_cast<uint32_t>(found - dif::kAggregations.data()) + 1;
  }

  Maker maker_;
  std::vector<dif::Difo> seeds_;
};

}  // namespace dvm::fuzz
