// dvm exec: runs what dvm compile --dif wrote. Covered by tests/runtime/scenarios/test_program_file.py.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "cmd/command.h"
#include "cmd/tracing.h"
#include "dvm/dif/program_file.h"

namespace dvm::cmd {
namespace {

struct ExecCommand {
  TracingOptions tracing;
  std::string file;
};

Result<dif::ProgramFile> read_program(const std::string& path) {
  std::ostringstream bytes;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (file) bytes << file.rdbuf();
  if (!file) return Error{fmt::format("failed to open {}: {}", path, std::strerror(errno))};
  Result<dif::ProgramFile> read = dif::from_bytes(std::move(bytes).str());
  if (!read) return Error{fmt::format("failed to read {}: {}", path, read.error().message)};
  return read;
}

// Options of the file first: those of the command line win.
Result<dif::Options> options_of(const dif::ProgramFile& file, const ScriptOptions& given) {
  dif::Options options;
  for (const std::string& setting : file.settings)
    if (Status set = set_option(options, setting); !set) return set.error();
  return run_time_options(given, options);
}

// Completes the description for this run; returns the number of probes that it matches.
Result<size_t> match(dif::ProbeDesc& desc, runtime::Handle& handle, pid_t target) {
  if (Status set = set_target(desc, target); !set) return set.error();
  const bool is_needed = handle.options()[dif::Option::zdefs] == 0;
  const compiler::ProbeMatches found = match_probes(handle, desc, is_needed);
  if (found.count != 0 || !is_needed) return found.count;
  std::string message = found.reason;
  if (found.tag.empty() || found.tag == "D_PDESC_ZERO") {
    message = fmt::format("probe description {}:{}:{}:{} does not match any probes", desc.provider, desc.module, desc.function,
                          desc.name);
    if (!found.reason.empty()) message += "\n    hint: " + found.reason;
  }
  for (const std::string& hint : found.hints) message += "\n    hint: " + hint;
  return Error{message};
}

Result<ReadyProgram> ready(dif::NamedProgram program, runtime::Handle& handle, pid_t target) {
  size_t matched = 0;
  for (dif::EcbDesc& clause : program.program.clauses)
    for (dif::ProbeDesc& desc : clause.probes) {
      Result<size_t> count = match(desc, handle, target);
      if (!count) return Error{fmt::format("{} line {}: {}", clause.position.file, clause.position.line, count.error().message)};
      matched += *count;
    }
  const compiler::Source source{program.name, program.name, program.is_description};
  return ReadyProgram{std::move(program.program), matched_line(source, matched)};
}

int exec(const ExecCommand& given) {
  Result<dif::ProgramFile> file = read_program(given.file);
  if (!file) return fail("{}", file.error().message);
  Result<dif::Options> options = options_of(*file, given.tracing.script);
  if (!options) return fail("{}", options.error().message);
  const auto make = [&file](runtime::Handle& handle, pid_t target) {
    std::vector<ReadyProgram> programs;
    for (dif::NamedProgram& program : file->programs) {
      Result<ReadyProgram> one = ready(std::move(program), handle, target);
      if (!one) return fail("failed to enable {}", one.error().message), std::vector<ReadyProgram>();
      programs.push_back(std::move(*one));
    }
    return programs;
  };
  const auto open = [&given](const dif::Options& set, int terminal) {
    return open_live_source(given.tracing.script, set, terminal);
  };
  return trace(given.tracing, *options, open, make).status;
}

}  // namespace

void add_exec(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<ExecCommand>();
  CLI::App* command = add_command(app, "exec", "Trace with a compiled script",
                                  {"dvm compile --dif script.dif script.d", "dvm exec script.dif -c ./program"});
  command->add_option("FILE", given->file, "File that dvm compile --dif wrote")->type_name("FILE")->required();
  add_setting_options(*command, given->tracing.script);
  add_process_options(*command, given->tracing.script);
  add_tracing_options(*command, given->tracing, true);
  add_run_options(*command, given->tracing);
  command->callback([given, &chosen] { chosen = [given] { return exec(*given); }; });
}

}  // namespace dvm::cmd
