// Covered by tests/runtime/scenarios/test_command.py.

#include "cmd/usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cmd/command.h"
#include "common/similar.h"

namespace dvm::cmd {

std::string examples(std::initializer_list<const char*> lines) {
  std::string text = "Examples:";
  for (const char* line : lines) text += fmt::format("\n  {}", line);
  return text;
}

CLI::App* add_command(CLI::App& to, const char* name, const char* text, std::initializer_list<const char*> lines,
                      const char* notes) {
  CLI::App* command = to.add_subcommand(name, text);
  command->footer(notes ? fmt::format("{}\n\n{}", notes, examples(lines)) : examples(lines));
  return command;
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : commands_of(app))
    if (command->check_name(name)) return command;
  return nullptr;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

namespace {

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands_of(app)) names.push_back(command->get_name());
  return names;
}

std::string with_commands(const std::string& problem, const CLI::App& app, const std::vector<std::string>& hints) {
  std::string text = problem;
  for (const std::string& hint : hints) text += fmt::format("\n    hint: {}", hint);
  return text + fmt::format("\n    commands: {}\n    for more, see {} --help", fmt::join(names_of(app), ", "), path_of(app));
}

// An option of `run`, or a script: the user forgot the command.
bool is_for_run(const CLI::App& app, const std::string& word) {
  const CLI::App* run = find_command(app, "run");
  if (run == nullptr) return false;
  const std::string option = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
  return word.starts_with('-') ? run->get_option_no_throw(option) != nullptr : access(word.c_str(), R_OK) == 0;
}

class HelpFormatter : public CLI::Formatter {
  // A group of options ends with one empty line, also the last of several.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
    return text;
  }

  // A positional argument of several parts has its own text, as "[SCRIPT [ARGUMENT...]]".
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    if (is_positional && !option->get_option_text().empty()) return option->get_option_text();
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    return name.substr(0, name.find('{'));
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0 || option->get_positional()) return "";
    const std::string type = option->get_type_name();
    return (type.starts_with('[') ? "" : " ") + type.substr(0, type.find(':'));
  }

  // dvm tool has the options of its tools.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string text = CLI::Formatter::make_usage(app, std::move(name));
    const size_t at = text.find("[OPTIONS]");
    return app->get_prefix_command() && at != std::string::npos ? text.insert(at, "[NAME] ") : text;
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? CLI::Formatter::make_option_usage(option) : option->get_option_text();
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<HelpFormatter>(); }

HelpGroup::HelpGroup(CLI::App& command, const char* heading)
    : command_(command), before_(command.option_defaults()->get_group()) {
  command_.option_defaults()->group(heading);
}

HelpGroup::~HelpGroup() { command_.option_defaults()->group(before_); }

std::vector<std::string> spell_out_help(std::vector<std::string> words) {
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  words.push_back("--help");
  return words;
}

std::string command_problem(const CLI::App& app, std::span<const std::string> words) {
  if (app.get_require_subcommand_min() == 0) return "";
  if (words.empty()) return with_commands(fmt::format("a command must follow '{}'", path_of(app)), app, {});
  const std::string& word = words[0];
  if (const CLI::App* command = find_command(app, word)) return command_problem(*command, words.subspan(1));
  if (word.starts_with('-') && app.get_option_no_throw(word) != nullptr) return "";
  if (is_for_run(app, word))
    return with_commands(fmt::format("a command must precede '{}'", word), app,
                         {fmt::format("did you mean '{} run {}'?", path_of(app), word)});
  const std::vector<std::string> names = names_of(app);
  const std::vector<std::string_view> views(names.begin(), names.end());
  return with_commands(fmt::format("'{}' is not a command of {}", word, path_of(app)), app,
                       near_hints(word, views, path_of(app) + " "));
}

void refuse_odd_values(CLI::App& app) {
  const CLI::Validator is_given(
      [](std::string& text) { return text.empty() ? std::string("the value is empty") : std::string(); }, "");
  const CLI::Validator has_no_value(
      [](std::string& text) { return text == "true" ? std::string() : std::string("it takes no value"); }, "");
  for (CLI::Option* option : app.get_options())
    if (const std::string type = option->get_type_name(); type == "FILE" || type == "URL" || type == "ADDRESS")
      option->check(is_given);
    else if (option->get_items_expected_max() == 0 && option->get_fnames().empty())  // --account=json has a value
      option->check(has_no_value);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_odd_values(*command);
}

}  // namespace dvm::cmd
