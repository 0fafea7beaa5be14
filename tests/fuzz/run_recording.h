#pragma once
// A recording from anywhere, replayed with a program that asks for all that a recording has.

#include "dvm/dif/text.h"
#include "runtime/instrument/replay/recording.h"
#include "runtime/instrument/replay/replay.h"
#include "tests/fuzz/run_program.h"

namespace dvm::fuzz {

inline dif::RecDesc value_of(std::string_view text) {
  Result<dif::Difo> difo = dif::assemble(text);
  require(!!difo, "the program of a fuzzer can be assembled");
  dif::RecDesc value;
  value.difo = std::move(*difo);
  return value;
}

// { trace(copyinstr(arg0)); } and { @[execargs] = count(); trace(ppid); trace(*(long *)arg2); } on all probes.
inline dif::Program asking_program() {
  dif::EcbDesc strings, counts;
  strings.probes = counts.probes = {{"", "", "", ""}};
  dif::ActDesc text, number, word, count;
  text.kind = number.kind = word.kind = dif::Action::trace;
  text.args = {value_of("returns string\nldgs arg0, %r1\npushtv %r1\ncall copyinstr, %r2\nret %r2\n")};
  number.args = {value_of("returns int32\nldgs ppid, %r1\nret %r1\n")};
  word.args = {value_of("returns int64\nldgs arg2, %r1\nuldx [%r1], %r2\nret %r2\n")};
  count.kind = dif::Action::agg_count, count.aggregations = {1}, count.key_count = 1;
  count.args = {value_of("returns string\nldgs execargs, %r1\nret %r1\n")};
  strings.actions = {text};
  counts.actions = {count, number, word};
  dif::Program program;
  program.clauses = {strings, counts};
  program.aggregations = {{1, "", dif::Action::agg_count, {count.args[0].difo.result}, {}, {}, {}}};
  return program;
}

inline bool run_recording(MemoryFile& file, std::string_view bytes) {
  static const dif::Program program = asking_program();
  require(file.write(bytes), "the input can be written to memory");
  auto reader = runtime::RecordingReader::open(file.path());
  if (!reader) return false;
  File out, err;
  runtime::HandleConfig config = small_config(out, err);
  config.is_replay = true;
  config.recorded_processes = (*reader)->processes();
  runtime::Handle handle(config);
  add_own_probes(handle);
  if (!(*reader)->add_probes(handle.catalog())) return false;
  auto owned = runtime::make_replay_instrument(std::move(*reader));
  const runtime::ReplayInstrument& instrument = *owned;
  handle.add_instrument(std::move(owned));
  require(run_to_the_end(handle, program, [&] { return !instrument.finished(); }), "what the fuzzer asks for can be enabled");
  return true;
}

}  // namespace dvm::fuzz
