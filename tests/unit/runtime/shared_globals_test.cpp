// Which values of global variables instruments are told.

#include "runtime/backend/local/shared_globals.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>

#include "vm/state/state.h"

namespace dvm::runtime {
namespace {

using Told = std::vector<std::pair<uint16_t, uint64_t>>;

class NotingInstrument final : public Instrument, public Aggregates, public ChangesGlobals, AggregationSource {
 public:
  explicit NotingInstrument(Told& told, const std::optional<uint64_t>& added) : told_(told), added_(added) {}
  std::string_view name() const override { return "noting"; }
  std::string_view refusal(const Probe&) const override { return ""; }
  Status enable(std::span<const EnabledProbe>, std::vector<Refused>&) override { return {}; }
  Result<uint64_t> poll(EventSink&) override { return uint64_t{0}; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  Abilities abilities() override { return {.aggregates = this, .globals = this}; }

  AggregationSource& aggregations() override { return *this; }
  void begin() override {}
  void set_global(uint16_t id, uint64_t value) override { told_.emplace_back(id, value); }
  bool take_changes(std::span<GlobalChange> globals) override {
    for (GlobalChange& one : globals) one.added = added_.value_or(0);
    return added_.has_value();
  }
  void take_addresses(const VisitAddress&) override {}

  void visit(const Visit&) const override {}
  void clear() noexcept override {}
  bool empty() const noexcept override { return true; }
  bool wants_reading() const noexcept override { return false; }

 private:
  Told& told_;
  const std::optional<uint64_t>& added_;
};

TEST(SharedGlobals, AreNotComparedIfNoInstrumentRunsClauses) {
  const dif::Variable declared[] = {{"a",
                                     dif::kFirstUserVariable,
                                     dif::Scope::global,
                                     dif::VariableKind::scalar,
                                     true,
                                     true,
                                     {dif::TypeKind::integer, true, false, 8, "int64_t"}}};
  vm::VariableState variables(declared, {});
  Instruments none(false);
  SharedGlobals globals(none);
  globals.add(std::array{uint16_t{dif::kFirstUserVariable}}, variables);
  EXPECT_TRUE(globals.empty());
}

TEST(SharedGlobals, AreToldWhenTheyChange) {
  constexpr uint16_t kA = dif::kFirstUserVariable, kB = kA + 1;
  const dif::DataType type{dif::TypeKind::integer, true, false, 8, "int64_t"};
  const dif::Variable declared[] = {{"a", kA, dif::Scope::global, dif::VariableKind::scalar, true, true, type},
                                    {"b", kB, dif::Scope::global, dif::VariableKind::scalar, true, true, type}};
  vm::VariableState variables(declared, {});
  const auto set = [&](uint16_t id, uint64_t value) { variables.impl().globals.find(id)->value = value; };
  Told told;
  Instruments instruments(false);
  const std::optional<uint64_t> added;
  instruments.add(std::make_unique<NotingInstrument>(told, added), "");
  SharedGlobals globals(instruments);
  set(kA, 4), set(kB, 5);
  globals.update(variables);
  EXPECT_EQ(std::exchange(told, {}), Told());
  globals.add(std::vector{kA}, variables);
  globals.add(std::vector{kA}, variables);
  EXPECT_EQ(std::exchange(told, {}), (Told{{kA, 4}}));
  globals.update(variables);
  set(kA, 6), set(kB, 7);
  globals.update(variables);
  globals.update(variables);
  EXPECT_EQ(std::exchange(told, {}), (Told{{kA, 6}}));
}

TEST(SharedGlobals, AreTheSumOfTwoWords) {
  constexpr uint16_t kNarrow = dif::kFirstUserVariable;
  const dif::DataType type{dif::TypeKind::integer, true, false, 1, "char"};
  const dif::Variable declared[] = {{"n", kNarrow, dif::Scope::global, dif::VariableKind::scalar, true, true, type}};
  vm::VariableState variables(declared, {});
  vm::set_global(variables, kNarrow, 5);
  Told told;
  std::optional<uint64_t> added;
  Instruments instruments(false);
  instruments.add(std::make_unique<NotingInstrument>(told, added), "");
  SharedGlobals globals(instruments);
  globals.add(std::vector{kNarrow}, variables);
  EXPECT_EQ(std::exchange(told, {}), (Told{{kNarrow, 5}}));
  globals.take_changes(variables);  // no clause has run there
  EXPECT_EQ(variables.global(kNarrow), 5U);
  added = 200;
  globals.take_changes(variables);
  EXPECT_EQ(static_cast<int64_t>(variables.global(kNarrow)), -51);
  globals.update(variables);  // that was no change of dvm
  EXPECT_EQ(std::exchange(told, {}), Told());
  vm::set_global(variables, kNarrow, 0);
  added = 202;  // meanwhile
  globals.update(variables);
  EXPECT_EQ(std::exchange(told, {}), (Told{{kNarrow, 56}}));
  globals.take_changes(variables);
  EXPECT_EQ(variables.global(kNarrow), 2U);
  vm::set_global(variables, kNarrow, 7);  // is told also if clauses change it before
  added = 203;
  globals.take_changes(variables);
  globals.update(variables);
  EXPECT_EQ(std::exchange(told, {}), (Told{{kNarrow, 61}}));
}

}  // namespace
}  // namespace dvm::runtime
