// dvm run: dtrace(1) on live processes. Covered by tests/runtime.

#include <CLI/CLI.hpp>
#include <memory>

#include "cmd/command.h"
#include "cmd/modes.h"
#include "cmd/tracing.h"

namespace dvm::cmd {

void add_run(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<TracingOptions>();
  auto modes = std::make_shared<Modes>();
  CLI::App* command = add_command(
      app, "run", "Trace with a D script",
      {"dvm run -n 'pid$target:libc:malloc:entry { @ = quantize(arg0); }' -p 1234", "dvm run script.d -c './program --flag'"});
  add_process_options(*command, given->script);
  add_script_options(*command, given->script, "[SCRIPT [ARGUMENT...]]");
  add_tracing_options(*command, *given, true);
  add_run_options(*command, *given);
  add_modes(*command, *modes);
  command->add_flag("--predict", given->predict, "Predict the cost of the script before its probes are enabled")->group("Cost");
  add_prediction_options(*command, given->prediction, "--predict");
  command->callback([given, modes, &chosen] {
    const auto open = [given](const dif::Options& options, int terminal) {
      return open_live_source(given->script, options, terminal);
    };
    chosen = [given, modes, open] {
      const std::optional<int> status = run_mode(*modes, *given);
      return status ? *status : trace(*given, open).status;
    };
  });
}

}  // namespace dvm::cmd
