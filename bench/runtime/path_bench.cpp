// Cost of an event from the ring buffer, as the BPF program leaves it, to its result: path/<script>. Each drain has 4096
// records; `ns` is the time per record.
//
//   count      @ = count()                    quantize  @[arg1] = quantize(arg2), 100 keys
//   string     @[copyinstr(arg0)] = count()   printf    two integers and a string, to the formatted bytes in /dev/null
//   predicate  @ = count() behind a predicate that is false
//   .../account  the same with its cost accounted
//
// string has 100 keys of 12 characters. Aggregated values reach the consumer's table at aggrate, once a second; keys_bench
// measures that.

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "dvm/compiler/compile.h"
#include "dvm/runtime/handle.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/uprobe/delivery.h"
#include "runtime/instrument/uprobe/ring_view.h"
#include "runtime/instrument/uprobe/uprobe.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kRecords = 4096;
constexpr uint64_t kKeys = 100;
constexpr uint64_t kTextAt = 0x5000;

// A ring in plain memory, filled once and drained again and again.
class FilledRing final : public Instrument, public Replays {
 public:
  std::string_view name() const override { return "filled ring"; }
  std::string_view refusal(const Probe& probe) const override { return uprobe_refusal(probe); }

  Status enable(std::span<const EnabledProbe> probes, std::vector<Refused>&) override {
    const Probe& probe = *probes.front().probe;
    const RecordLayout layout = make_layout(possible_needs(probes.front().needs, SiteKind::entry), SiteKind::entry);
    const auto group = static_cast<uint16_t>(delivery_.add(layout, 1));
    for (uint64_t i = 0; i < kRecords; i++) append(record(layout, make_cookie(probe.id, group), i * 7919 % kKeys));
    consumed_ = produced_ = data_.size();
    data_.resize(std::bit_ceil(data_.size()));
    return {};
  }
  Result<uint64_t> poll(EventSink& sink) override {
    const RingView view{&consumed_, &produced_, data_.data(), data_.size()};
    return view.consume([&](std::span<const std::byte> record) { return delivery_.deliver(record, sink); });
  }
  bool finished() const override { return consumed_ == produced_; }
  Pacing pacing() const override { return {}; }
  uint64_t drops() const override { return 0; }
  void disable() override {}
  Abilities abilities() override { return {.replays = this}; }
  void fill() { consumed_ = 0; }

 private:
  static void put(std::vector<std::byte>& record, size_t at, const void* bytes, size_t size) {
    if (record.size() < at + size) record.resize(at + size);
    std::memcpy(record.data() + at, bytes, size);
  }
  static void put(std::vector<std::byte>& record, size_t at, uint64_t word) { put(record, at, &word, sizeof(word)); }

  // A record as capture_program makes it.
  static std::vector<std::byte> record(const RecordLayout& layout, uint64_t cookie, uint64_t number) {
    std::vector<std::byte> record(layout.least);
    const std::array<uint64_t, 3> args = {kTextAt, number, number * 1000};
    put(record, 0, cookie);
    if (layout.time) put(record, layout.time, 1'000'000 + number);
    if (layout.thread) put(record, layout.thread, uint64_t{1} << 32 | 1);
    for (size_t n = 0; n < args.size(); n++)
      if (layout.args[n]) put(record, layout.args[n], args[n]);
    const std::string text = fmt::format("function_{:03}", number);
    for (const MemorySlot& slot : layout.slots) {
      put(record, slot.at, text.size() + 1);
      put(record, slot.at + 8, text.c_str(), text.size() + 1);
    }
    return record;
  }
  void append(const std::vector<std::byte>& record) {
    const size_t at = data_.size();
    data_.resize(at + 8 + (record.size() + 7) / 8 * 8);
    const auto length = static_cast<uint32_t>(record.size());
    std::memcpy(data_.data() + at, &length, sizeof(length));
    std::memcpy(data_.data() + at + 8, record.data(), record.size());
  }

  Delivery delivery_;
  std::vector<std::byte> data_;
  uint64_t consumed_ = 0, produced_ = 0;
};

void path(benchmark::State& state, const char* clause, vm::CostPolicy cost = vm::CostPolicy::none) {
  HandleConfig config;
  config.cost = cost;
  config.out = std::fopen("/dev/null", "w");
  if (!config.options.set("quiet", "")) return state.SkipWithError("no option quiet");
  Handle handle(config);
  auto owned = std::make_unique<FilledRing>();
  FilledRing& ring = *owned;
  handle.add_instrument(std::move(owned));
  handle.catalog().add({0, "pid1", "a.out", "f", "entry", UprobeSite{"a.out", 1, false, 1}});
  const compiler::Source source{"bench.d", fmt::format("pid1:a.out:f:entry {}", clause), false};
  const compiler::CompileResult compiled = compiler::compile({&source, 1}, {});
  if (compiled.programs.empty()) return state.SkipWithError("does not compile");
  std::vector<Refused> refused;
  if (!handle.enable(compiled.programs.front().program) || !handle.go(refused)) return state.SkipWithError("could not start");
  for (auto _ : state) {
    ring.fill();
    while (!ring.finished()) handle.work();  // a poll ends early when a buffer fills
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kRecords));
  state.counters["ns"] = benchmark::Counter(static_cast<double>(state.iterations() * kRecords) * 1e-9,
                                            benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  if (!handle.stop()) state.SkipWithError("could not stop");
  if (handle.account().events != state.iterations() * kRecords || handle.account().late_reads != 0)
    state.SkipWithError("events were lost, or their memory");
  std::fclose(config.out);
}

constexpr char kCount[] = "{ @ = count(); }", kString[] = "{ @[copyinstr(arg0)] = count(); }";

BENCHMARK_CAPTURE(path, count, kCount)->Name("path/count");
BENCHMARK_CAPTURE(path, predicate, "/arg1 == 1000/ { @ = count(); }")->Name("path/predicate");
BENCHMARK_CAPTURE(path, quantize, "{ @[arg1] = quantize(arg2); }")->Name("path/quantize");
BENCHMARK_CAPTURE(path, string, kString)->Name("path/string");
BENCHMARK_CAPTURE(path, printf, "{ printf(\"%d %d %s\\n\", arg1, arg2, copyinstr(arg0)); }")->Name("path/printf");
BENCHMARK_CAPTURE(path, count_account, kCount, vm::CostPolicy::blocks)->Name("path/count/account");
BENCHMARK_CAPTURE(path, string_account, kString, vm::CostPolicy::blocks)->Name("path/string/account");

}  // namespace
}  // namespace dvm::runtime

BENCHMARK_MAIN();
