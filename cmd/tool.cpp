// dvm tool: runs the ready scripts of tools/. Covered by tests/runtime/scenarios/test_tools.py.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "cmd/command.h"
#include "cmd/embedded.h"
#include "cmd/libraries.h"
#include "cmd/parse_pid.h"
#include "cmd/read_file.h"
#include "cmd/tool_page.h"
#include "cmd/tracing.h"
#include "common/similar.h"
#include "dvm/dif/probe_desc.h"
#include "runtime/catalog/catalog.h"

namespace dvm::cmd {
namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;

// By name. A file beside the program replaces the one that it carries.
std::map<std::string, std::string> scripts() {
  std::map<std::string, std::string> all;
  for (const EmbeddedFile& file : embedded_files())
    if (file.folder == "tools") all[fs::path(file.name).stem()] = file.text;
  std::error_code error;
  for (fs::directory_iterator it(own_folder() / "tools", error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".d")
      if (Result<compiler::Source> source = read_file(it->path().string())) all[it->path().stem()] = source->text;
  return all;
}

int list_tools() {
  for (const auto& [name, summary] : tool_summaries()) fmt::print("{:<14}{}\n", name, summary);
  return 0;
}

int no_such_tool(const std::string& name) {
  const auto all = scripts();
  std::vector<std::string_view> names;
  for (const auto& [one, script] : all) names.push_back(one);
  std::string hints;
  for (const std::string& hint : near_hints(name, names, "dvm tool ")) hints += "\n    hint: " + hint;
  fail("there is no tool '{}'; 'dvm tool' lists them{}", name, hints);
  return kUsage;
}

// $target and $1, $2, ... in a description of the page.
std::string expand(const std::string& text, const std::vector<std::string>& arguments, pid_t target) {
  const auto value = [&](std::string_view name, size_t) -> std::optional<std::string> {
    if (name == "target") return std::to_string(target);
    const size_t number = name.empty() ? 0 : static_cast<size_t>(name[0] - '0');
    return number >= 1 && number <= arguments.size() ? std::optional(arguments[number - 1]) : std::nullopt;
  };
  return dif::expand_macros(text, value).value_or(text);
}

// Why the tool cannot run here; empty: it can.
std::string missing_probes(runtime::Handle& handle, const Tool& tool, const std::vector<std::string>& arguments, pid_t target) {
  std::string missing, reason, hints;
  for (const std::string& text : tool.needs) {
    const std::string wanted = expand(text, arguments, target);
    const std::optional<dif::ProbeDesc> description = dif::parse_probe_desc(wanted);
    const compiler::ProbeMatches found =
        description ? match_probes(handle, *description, !tool.needs_one) : compiler::ProbeMatches();
    if (found.count > 0 && tool.needs_one) return "";
    if (found.count > 0) continue;
    missing += (missing.empty() ? "" : ", ") + wanted;
    if (reason.empty()) reason = found.reason;
    if (hints.empty())
      for (const std::string& hint : found.hints) hints += "\n    hint: " + hint;
  }
  if (missing.empty()) return "";
  if (tool.needs_one) return fmt::format("none of these probes exists: {}", missing);
  return fmt::format("these probes do not exist: {}{}{}", missing, reason.empty() ? "" : fmt::format(" ({})", reason), hints);
}

// A program that was started may load its probes later, as java does with its virtual machine.
bool may_come_late(const Tool& tool, const ScriptOptions& given) {
  return given.zero_matches || (tool.needs_one && !given.commands.empty());
}

bool has_probe(runtime::Handle& handle, const Tool& tool, const std::vector<std::string>& arguments, pid_t target) {
  return std::any_of(tool.needs.begin(), tool.needs.end(), [&](const std::string& text) {
    const std::optional<dif::ProbeDesc> wanted = dif::parse_probe_desc(expand(text, arguments, target));
    return wanted && !handle.catalog().match(*wanted).empty();
  });
}

// Why the tool is of no use without the probes that were left out: they are all of one that it needs.
std::string refused_probes(runtime::Handle& handle, const Tool& tool, const std::vector<std::string>& arguments, pid_t target,
                           const std::vector<runtime::Refused>& refused) {
  if (tool.needs_one) return "";
  for (const std::string& text : tool.needs) {
    const std::string wanted = expand(text, arguments, target);
    const std::optional<dif::ProbeDesc> description = dif::parse_probe_desc(wanted);
    const auto matched = description ? handle.catalog().match(*description) : std::vector<const runtime::Probe*>();
    const bool is_all = std::all_of(matched.begin(), matched.end(), [&](const runtime::Probe* probe) {
      return std::any_of(refused.begin(), refused.end(), [&](const runtime::Refused& one) { return one.probe == probe; });
    });
    if (!matched.empty() && is_all) return fmt::format("tool {}: none of the probes {} could be enabled", tool.name, wanted);
  }
  return "";
}

// Options that a tool passes on to dvm run.
Status take_run_options(TracingOptions& tracing, const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size(); i++) {
    const std::string& word = words[i];
    if (word == "--json")
      tracing.as_json = true;
    else if (word == "-v")
      tracing.script.verbose = true;
    else if (word == "-Z")
      tracing.script.zero_matches = true;
    else if (word == "-o")
      tracing.output = words[++i];
    else if (word == "-x")
      tracing.script.settings.push_back(words[++i]);
    else if (word == "-c")
      tracing.script.commands.push_back(words[++i]);
    else if (const Result<pid_t> pid = parse_pid(words[++i]))
      tracing.script.pids.push_back(*pid);
    else
      return Error{pid.error().message};
  }
  return {};
}

int run_tool(const Tool& tool, const std::vector<std::string>& words) {
  std::vector<std::string> rest;
  Result<std::vector<std::string>> arguments = tool_arguments(tool, words, rest);
  if (!arguments) return fail("{}", arguments.error().message), kUsage;
  TracingOptions tracing;
  if (Status taken = take_run_options(tracing, rest); !taken)
    return fail("tool {}: {}", tool.name, taken.error().message), kUsage;
  ScriptOptions& script = tracing.script;
  if (tool.needs_process && script.pids.empty() && script.commands.empty())
    return fail("tool {}: name a process by -p PID, or start one by -c 'CMD ARGS'", tool.name), kUsage;
  const bool waits = may_come_late(tool, script);
  script.zero_matches |= tool.needs_one;
  script.programs.push_back({GivenProgram::Form::file, tool.name + ".d"});  // $0
  script.operands = *arguments;
  if (const pid_t pid = named_process(tool, *arguments); pid != 0) script.pids.push_back(pid);  // the run ends with it
  tracing.named_rows = tool.rows;
  Result<dif::Options> options = run_time_options(script);
  if (!options) return fail("{}", options.error().message);
  const std::vector<compiler::Source> sources = {{tool.name + ".d", tool.script}};
  const auto open = [&](const dif::Options& with, int terminal) { return open_live_source(script, with, terminal); };
  const auto make = [&](runtime::Handle& handle, pid_t target) -> std::vector<ReadyProgram> {
    const std::string missing = missing_probes(handle, tool, *arguments, target);
    if (!missing.empty() && waits)
      tracing.complaint = [&, missing, target](runtime::Handle& ended) {
        return has_probe(ended, tool, *arguments, target) ? "" : fmt::format("tool {}: {}", tool.name, missing);
      };
    tracing.objection = [&, target](runtime::Handle& enabled, const std::vector<runtime::Refused>& refused) {
      return refused_probes(enabled, tool, *arguments, target, refused);
    };
    if (missing.empty() || tracing.complaint) return compile_live(handle, sources, script, target);
    tell("tool {}: {}", tool.name, missing);
    return {};
  };
  return trace(tracing, *options, open, make).status;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) return list_tools();
  const std::optional<Tool> tool = find_tool(words[0]);
  if (!tool) return no_such_tool(words[0]);
  const std::vector<std::string> rest(words.begin() + 1, words.end());
  const auto asks = [](const std::string& word) { return word == "--help" || word == "-h"; };
  if (std::none_of(rest.begin(), rest.end(), asks)) return run_tool(*tool, rest);
  fmt::print("{}", tool_page(*tool));
  return 0;
}

}  // namespace

std::optional<Tool> find_tool(const std::string& name) {
  const auto all = scripts();
  const auto found = all.find(name);
  if (found == all.end()) return {};
  return parse_tool(found->first, found->second);
}

std::map<std::string, std::string> tool_summaries() {
  std::map<std::string, std::string> summaries;
  for (const auto& [name, script] : scripts()) summaries[name] = parse_tool(name, script).summary;
  return summaries;
}

void add_tool(CLI::App& app, CommandAction& chosen) {
  CLI::App* command = add_command(app, "tool", "Run a ready script, or list them",
                                  {"dvm tool", "dvm tool funccount --help", "dvm tool funccount -p 1234 'malloc*' 'libc*'",
                                   "dvm tool opensnoop -n bash -d 10"});
  command->prefix_command();
  command->callback([command, &chosen] { chosen = [words = command->remaining()] { return run(words); }; });
}

}  // namespace dvm::cmd
