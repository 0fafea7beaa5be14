// dvm record: trace, and keep every firing in a file. Covered by tests/runtime/scenarios/test_recording.py.

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/command.h"
#include "cmd/tracing.h"
#include "runtime/instrument/replay/recording.h"

namespace dvm::cmd {
namespace {

struct RecordCommand {
  TracingOptions tracing;
  std::string file;
};

// Every instrument of the live source, with its firings written to the recording as well.
Result<FiringSource> open_recorded(const RecordCommand& given, const dif::Options& options, int terminal,
                                   std::shared_ptr<runtime::RecordingWriter>& writer) {
  Result<FiringSource> source = open_live_source(given.tracing.script, options, terminal);
  if (!source) return source;
  Result<std::unique_ptr<runtime::RecordingWriter>> opened = runtime::RecordingWriter::open(given.file, source->target);
  if (!opened) return opened.error();
  writer = std::move(*opened);
  source->symbols = writer->symbols();
  source->late_reads = &writer->late_reads();
  for (auto& [instrument, aside] : source->instruments)
    instrument = runtime::make_recorded_instrument(std::move(instrument), writer);
  return source;
}

int record(const RecordCommand& given) {
  std::shared_ptr<runtime::RecordingWriter> writer;
  TraceOutcome outcome = trace(
      given.tracing, [&](const dif::Options& options, int terminal) { return open_recorded(given, options, terminal, writer); });
  if (!outcome.traced) return outcome.status;  // nothing is left of the file
  if (Status finished = writer->finish(outcome.drops); !finished) return fail("{}", finished.error().message);
  if (const uint64_t lost = writer->late_reads().lost(); lost > 0) tell("{} late reads were too large for the recording", lost);
  tell("{} events recorded in {}", writer->events(), given.file);
  return outcome.status;
}

}  // namespace

void add_record(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<RecordCommand>();
  CLI::App* command = add_command(app, "record", "Trace with a D script and keep every event in a file",
                                  {"dvm record -o trace.dvm -n 'pid$target:a.out:main:entry' -c ./program"});
  command->add_option("-o", given->file, "Write the recording to this file (required)")->type_name("FILE")->required();
  add_process_options(*command, given->tracing.script);
  add_script_options(*command, given->tracing.script, "[SCRIPT [ARGUMENT...]]");
  add_tracing_options(*command, given->tracing, false);
  add_run_options(*command, given->tracing);
  command->callback([given, &chosen] { chosen = [given] { return record(*given); }; });
}

}  // namespace dvm::cmd
