// Covered by tests/runtime/scenarios/test_command.py.

#include "cmd/option_problem.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cmd/usage.h"
#include "common/similar.h"

namespace dvm::cmd {
namespace {

struct Wording {
  const char* parser;  // a message of CLI11
  const char* plain;
};

constexpr Wording kWordings[] = {
    {R"(: 1 required (\S+) missing)", "illegal option -- $1"},  // a hidden option has no name, and itself as its type
    {R"((\S+): 1 required ([^:]+)(:.*)? missing)", "option $1 needs a value: $2"},
    {R"((\S+): At Most 1 required but received .*)", "option $1 may be given only once"},
    {R"((\S+): Value (.*) not in range ([\d.]+?)(\.0+)? to \d{30,}.*)", "option $1: '$2' is not a number above $3"},
    {R"((\S+): Value (.*) not in range ([\d.]+?)(\.?0*) to ([\d.]+?)(\.0+)?)", "option $1: '$2' is not a number from $3 to $5"},
    {R"((\S+): (.*) not in \{(.*)\})", "option $1: '$2' is none of $3"},
    {R"(Could not convert: (\S+) = (.*))", "option $1: '$2' is not a number"},
    {R"((-\S+) is required)", "option $1 is missing"},
    {R"((.*) is required)", "$1 is missing"},
    {R"((-\S+) requires (-\S+))", "option $1 needs option $2 too"},
    {R"((-\S+) requires (.*))", "option $1 needs $2 too"},
    {R"((-\S+) excludes (-\S+))", "options $1 and $2 exclude each other"},
    {R"((-\S+): (.*))", "option $1: $2"},
};

std::string in_plain_words(const std::string& text) {
  for (const Wording& row : kWordings)
    if (std::smatch match; std::regex_match(text, match, std::regex(row.parser))) return match.format(row.plain);
  return text;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// Options that the word abbreviates, or else those that differ in few letters.
std::vector<std::string> near_options(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = option_names(app);
  std::vector<std::string> hints;
  for (const std::string& name : names)
    if (word.size() > 3 && name.starts_with(word)) hints.push_back(fmt::format("did you mean '{}'?", name));
  if (!hints.empty() || word.size() < 4) return hints;
  return near_hints(word, std::vector<std::string_view>(names.begin(), names.end()));
}

// The parser takes -C=3 for the flag -C and a word -=3. It does not say which flag that followed.
std::string value_of_flag(const CLI::App& app, const std::string& word) {
  std::set<std::string> given;
  for (const CLI::Option* option : app.parse_order())
    if (option->get_items_expected_max() == 0 && !option->get_snames().empty()) given.insert("-" + option->get_snames().front());
  if (!word.starts_with("-=") || given.empty()) return "";
  return fmt::format("option {}: it takes no value", fmt::join(given, " or "));
}

// The parser takes -Cjson for the flag -C and a word -json, which nobody typed.
std::string letter_of_flags(const std::string& word, const std::vector<std::string>& typed) {
  if (word.starts_with("--") || std::find(typed.begin(), typed.end(), word) != typed.end()) return "";
  for (const std::string& whole : typed)
    if (whole.starts_with('-') && !whole.starts_with("--") && whole.size() > word.size() && whole.ends_with(word.substr(1)))
      return fmt::format("unknown option -{} in {}", word[1], whole);
  return "";
}

std::string unexpected_word(const CLI::App& app, const std::vector<std::string>& typed) {
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return "";
  const std::string& word = words.front();
  if (!word.starts_with('-') || word == "-") return fmt::format("unexpected operand '{}'", word);
  if (const std::string problem = value_of_flag(app, word); !problem.empty()) return problem;
  if (const std::string problem = letter_of_flags(word, typed); !problem.empty()) return problem;
  std::string text = fmt::format("unknown option {}", word);
  for (const std::string& hint : near_options(app, word.substr(0, word.find('=')))) text += "\n    hint: " + hint;
  return text;
}

}  // namespace

std::string option_problem(const CLI::App* app, const CLI::Error& error, const std::vector<std::string>& typed) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  const std::string extra = is_extra ? unexpected_word(*app, typed) : "";
  return fmt::format("dvm: {}\n    for more, see {} --help\n", extra.empty() ? in_plain_words(error.what()) : extra,
                     path_of(*app));
}

}  // namespace dvm::cmd
