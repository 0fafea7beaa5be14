// Completion of command lines. Covered by tests/runtime/scenarios/test_complete.py.

#include "cmd/complete.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "cmd/dtrace.h"
#include "cmd/script.h"
#include "cmd/tool_page.h"
#include "cmd/usage.h"
#include "dvm/dif/option.h"
#include "dvm/dif/stability.h"

namespace dvm::cmd {
namespace {

constexpr std::string_view kMayGoOn = "...";  // as the text of a candidate: more of the word may follow

void print_if(std::string_view typed, std::string_view candidate, std::string_view text) {
  if (candidate.starts_with(typed)) fmt::print("{}\t{}\n", candidate, text);
}

// The words before the last one: the command, the option that the last word is the value of, and the process.
struct CompletionContext {
  const CLI::App* app = nullptr;
  const CLI::App* command = nullptr;
  bool is_dtrace = false;  // its options are those of dvm run with the same letters
  const CLI::Option* open = nullptr;
  std::optional<Tool> tool;                 // of dvm tool
  std::optional<std::string> tool_value{};  // the last word is the value of an option of the tool: the name of the value
  size_t operands = 0;                      // of the tool, before the last word
  ScriptOptions given;
};

// Finds the option of dvm run that the tool passes on. Null: it does not.
const CLI::Option* passed_on(const CompletionContext& context, const std::string& name) {
  const std::vector<std::string_view> all = run_options_of(*context.tool);
  if (std::find(all.begin(), all.end(), name) == all.end()) return nullptr;
  return find_command(*context.app, "run")->get_option_no_throw(name);
}

// Behind it, not only after =.
bool takes_value(const CLI::Option& option) { return option.get_items_expected_min() > 0; }

void take_value(CompletionContext& context, const std::string& word) {
  if (context.open->check_name("-c")) context.given.commands = {word};
  pid_t pid = 0;
  if (context.open->check_name("-p") && std::from_chars(word.data(), word.data() + word.size(), pid).ec == std::errc())
    context.given.pids = {pid};
  context.open = nullptr;
}

void take_tool_option(CompletionContext& context, const std::string& word) {
  for (const ToolOption& option : context.tool->options) {
    if (option.flag != word) continue;
    if (!option.value.empty()) context.tool_value = option.value;
    return;
  }
  const CLI::Option* option = passed_on(context, word);
  if (option != nullptr && takes_value(*option)) context.open = option;
}

// Letters without a value may stand before another one: -qs FILE.
void take_dtrace_options(CompletionContext& context, std::string_view letters) {
  for (; !letters.empty(); letters.remove_prefix(1)) {
    const CLI::Option* option = context.command->get_option_no_throw(fmt::format("-{}", letters[0]));
    if (option == nullptr || !takes_value(*option)) continue;
    context.open = option;
    if (letters.size() > 1) take_value(context, std::string(letters.substr(1)));
    return;
  }
}

void take_option(CompletionContext& context, const std::string& word) {
  if (context.tool) return take_tool_option(context, word);
  if (context.is_dtrace) return take_dtrace_options(context, std::string_view(word).substr(1));
  const bool is_long = word.starts_with("--");
  const CLI::Option* option = context.command->get_option_no_throw(is_long ? word.substr(0, word.find('=')) : word.substr(0, 2));
  if (option == nullptr || !takes_value(*option)) return;
  context.open = option;
  if (is_long ? word.find('=') != std::string::npos : word.size() > 2) take_value(context, word.substr(is_long ? 0 : 2));
}

CompletionContext read_context(const CLI::App& app, const std::vector<std::string>& words) {
  CompletionContext context;
  context.app = context.command = &app;
  context.is_dtrace = is_called_dtrace(words[0].c_str());
  if (context.is_dtrace) context.command = find_command(app, "run");
  for (size_t i = 1; i + 1 < words.size(); i++) {
    if (context.open != nullptr)
      take_value(context, words[i]);
    else if (context.tool_value)
      context.tool_value.reset();
    else if (words[i].starts_with('-'))
      take_option(context, words[i]);
    else if (const CLI::App* command = context.is_dtrace ? nullptr : find_command(*context.command, words[i]))
      context.command = command;
    else if (context.command->get_name() == "tool" && !context.tool)
      context.tool = find_tool(words[i]);
    else if (context.tool)
      context.operands++;
  }
  return context;
}

// The words that an option takes, as its check lists them: {table,json}.
void print_words(const CLI::Option& option, std::string_view begin, std::string_view typed) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return;
  for (size_t at = open + 1; at < close;) {
    const size_t end = std::min(type.find(',', at), close);
    print_if(typed, std::string(begin) + type.substr(at, end - at), "");
    at = end + 1;
  }
}

// --NAME=VALUE.
void print_joined_values(const CLI::App& command, const std::string& typed) {
  const std::string name = typed.substr(0, typed.find('='));
  if (const CLI::Option* option = command.get_option_no_throw(name)) print_words(*option, name + "=", typed);
}

void print_options(const CLI::App& command, std::string_view typed) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // --help does not show it
    for (const std::string& name : option->get_snames()) print_if(typed, "-" + name, option->get_description());
    for (const std::string& name : option->get_lnames()) print_if(typed, "--" + name, option->get_description());
  }
}

void print_dtrace_options(const CLI::App& run, std::string_view typed) {
  for (const char letter : dtrace_letters()) {
    const std::string name = fmt::format("-{}", letter);
    const CLI::Option* option = run.get_option_no_throw(name);
    if (option != nullptr && !option->get_description().empty()) print_if(typed, name, option->get_description());
  }
}

void print_tool_options(const CompletionContext& context, std::string_view typed) {
  for (const ToolOption& option : context.tool->options)
    if (!option.flag.empty()) print_if(typed, option.flag, option.text);
  for (const std::string_view name : run_options_of(*context.tool))
    if (const CLI::Option* option = passed_on(context, std::string(name))) print_if(typed, name, option->get_description());
  print_options(*context.command, typed);
}

// FUNCTION is looked for in the module that is the default.
void print_operand(const CompletionContext& context, const std::string& typed) {
  std::vector<const ToolOption*> operands;
  std::string module;
  for (const ToolOption& option : context.tool->options) {
    if (option.flag.empty()) operands.push_back(&option);
    if (option.value == "MODULE") module = option.otherwise.value_or("");
  }
  if (context.operands >= operands.size()) return;
  const std::string& wanted = operands[context.operands]->value;
  std::vector<std::string> names;
  if (wanted == "FUNCTION") names = complete_field(context.given, {module, typed});
  if (wanted == "MODULE") names = complete_field(context.given, {typed});
  for (const std::string& name : names)
    if (name.find_first_of("<>(){}[]|&;*' \"") == std::string::npos)
      fmt::print("{}\t\n", name);  // the others need a shell's quotes
}

void print_tools(std::string_view typed) {
  for (const auto& [name, summary] : tool_summaries()) print_if(typed, name, summary);
}

void print_commands(const CLI::App& command, std::string_view typed) {
  for (const CLI::App* one : commands_of(command)) print_if(typed, one->get_name(), one->get_description());
}

// The stabilities of names and of data, then the class, one after the other.
void print_attributes(std::string_view begin, std::string_view typed) {
  const std::string_view value = typed.substr(std::min(begin.size(), typed.size()));
  const std::string before = fmt::format("{}{}", begin, value.substr(0, value.rfind('/') + 1));
  if (std::count(value.begin(), value.end(), '/') < 2) {
    for (const char* const name : dif::kStabilities) print_if(typed, fmt::format("{}{}/", before, name), kMayGoOn);
  } else {
    for (const char* const name : dif::kClasses) print_if(typed, before + name, "");
  }
}

// The words that a run-time option takes.
void print_setting_words(const dif::OptionInfo& option, std::string_view begin, std::string_view typed) {
  if (option.kind == dif::OptionKind::attributes) return print_attributes(begin, typed);
  for (const std::string& word : option_words(option)) print_if(typed, fmt::format("{}{}", begin, word), "");
}

// -x NAME, then NAME=VALUE for options whose values are words. A flag needs a value where it is set anyway.
void print_settings(std::string_view typed) {
  for (const dif::OptionInfo& option : dif::kOptions) {
    if (!option.unsupported.empty()) continue;
    const bool is_flag = (option.kind == dif::OptionKind::flag && option.standard == 0) || option.kind == dif::OptionKind::bare;
    if (typed.find('=') == std::string_view::npos) {
      print_if(typed, fmt::format("{}{}", option.name, is_flag ? "" : "="), option.text);
      continue;
    }
    print_setting_words(option, fmt::format("{}=", option.name), typed);
  }
}

void print_processes(std::string_view typed) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string pid = entry.path().filename();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string name;
    std::getline(std::ifstream(entry.path() / "comm"), name);
    print_if(typed, pid, name);
  }
}

// The last field of the descriptions that each option takes.
struct DescriptionOption {
  const char* name;
  size_t last;
};
constexpr DescriptionOption kDescriptionOptions[] = {{"-P", 0}, {"-m", 1}, {"-f", 2}, {"-n", 3}};

// text: kMayGoOn if a predicate or a clause may follow.
void print_descriptions(const CompletionContext& context, const std::string& typed, size_t last, std::string_view text = "") {
  for (const std::string& one : complete_description(context.given, typed, last)) fmt::print("{}\t{}\n", one, text);
}

void print_values(const CompletionContext& context, const std::string& typed) {
  print_words(*context.open, "", typed);
  if (context.open->check_name("-x")) print_settings(typed);
  if (context.open->check_name("-X")) print_setting_words(info(dif::Option::stdc), "", typed);
  if (context.open->check_name("-p")) print_processes(typed);
  for (const auto& [name, last] : kDescriptionOptions)
    if (context.open->check_name(name)) print_descriptions(context, typed, last, kMayGoOn);
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

std::vector<std::string> split_line(std::string_view line) {
  std::vector<std::string> words(1);
  char quote = 0;
  bool is_begun = false;
  for (size_t i = 0; i < line.size(); i++) {
    const char c = line[i];
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      is_begun = true;
    } else if (quote == 0 && is_blank(c)) {
      if (is_begun) words.emplace_back();
      is_begun = false;
    } else {
      if (c == '\\' && quote != '\'' && i + 1 < line.size()) i++;
      words.back() += line[i];
      is_begun = true;
    }
  }
  return words;
}

int complete(const CLI::App& app, std::string_view line) {
  const std::vector<std::string> words = split_line(line);
  const CompletionContext context = read_context(app, words);
  const std::string& typed = words.back();
  if (context.open != nullptr)
    print_values(context, typed);
  else if (context.tool_value)
    *context.tool_value == "PID" ? print_processes(typed) : void();
  else if (context.tool && typed.starts_with('-'))
    print_tool_options(context, typed);
  else if (context.is_dtrace)
    typed.starts_with('-') ? print_dtrace_options(*context.command, typed) : void();
  else if (typed.starts_with("--") && typed.find('=') != std::string::npos)
    print_joined_values(*context.command, typed);
  else if (typed.starts_with('-'))
    print_options(*context.command, typed);
  else if (context.command->get_require_subcommand_min() > 0)
    print_commands(*context.command, typed);
  else if (context.command->get_name() == "list")
    print_descriptions(context, typed, 3);
  else if (context.command->get_name() == "tool" && !context.tool)
    print_tools(typed);
  else if (context.tool)
    print_operand(context, typed);
  return 0;
}

}  // namespace dvm::cmd
