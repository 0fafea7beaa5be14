// dvm lsp: the language server on standard input and output. Covered by tests/runtime/scenarios/test_lsp.py.

#include "cmd/command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>

#include "cmd/lsp/server.h"

namespace dvm::cmd {
namespace {

constexpr size_t kMostBytes = 64 << 20;  // of a message
constexpr size_t kMostHeader = 4096;     // of a line of its head

// A line of the head without its end; nothing: the input has ended.
std::optional<std::string> read_line(std::FILE* in) {
  std::string line;
  for (int c; (c = std::fgetc(in)) != EOF;) {
    if (c == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (line.size() < kMostHeader) line += static_cast<char>(c);
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

std::optional<size_t> length_in(std::string_view line) {
  constexpr std::string_view kName = "Content-Length:";
  if (!line.starts_with(kName)) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(' ', kName.size()), line.size()));
  size_t length = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
  return error == std::errc() && end == line.data() + line.size() ? std::optional(length) : std::nullopt;
}

// The next message; empty: the input has ended. An error: what follows cannot be found.
Result<std::string> read_message(std::FILE* in) {
  std::optional<size_t> length;
  for (bool has_begun = false;; has_begun = true) {
    const std::optional<std::string> line = read_line(in);
    if (!line && has_begun) return Error{"the input ends within a message"};
    if (!line) return std::string();
    if (line->empty()) break;
    if (const auto found = length_in(*line)) length = found;
  }
  if (!length || *length == 0) return Error{"a message has no Content-Length"};
  if (*length > kMostBytes) return Error{fmt::format("a message has {} bytes; at most {} are read", *length, kMostBytes)};
  std::string text(*length, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), in));
  return text;
}

void write_message(std::FILE* out, const lsp::Json& message) {
  const std::string text = message.dump(-1, ' ', false, lsp::Json::error_handler_t::replace);
  fmt::print(out, "Content-Length: {}\r\n\r\n{}", text.size(), text);
  std::fflush(out);
}

int serve(const ScriptOptions& given) {
  const auto language = lsp::Language::open(given);
  if (!language) return fail("{}", language.error().message);
  if (isatty(STDIN_FILENO) != 0) tell("waiting for messages of an editor on standard input; --help says more");
  lsp::Server server(**language, [](const lsp::Json& message) { write_message(stdout, message); });
  while (!server.has_ended()) {
    const Result<std::string> text = read_message(stdin);
    if (!text) return fail("{}", text.error().message);
    if (text->empty()) break;
    const lsp::Json message = lsp::Json::parse(*text, nullptr, false);
    if (message.is_discarded())
      server.refuse("the message is no JSON");
    else
      server.handle(message);
  }
  return server.status();
}

}  // namespace

void add_lsp(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<ScriptOptions>();
  CLI::App* command = app.add_subcommand("lsp", "Serve an editor: diagnostics, completion, documentation and costs of D scripts");
  command->footer(
      "It speaks the Language Server Protocol on standard input and output. Configure an editor to start it for D scripts.\n"
      "Examples:\n"
      "  dvm lsp\n"
      "  dvm lsp -p 1234     # know the functions and types of this process");
  command->add_option("-p", given->pids, "Take probes, types and data of this process")->type_name("PID");
  add_setting_options(*command, *given);
  command->callback([given, &chosen] { chosen = [given] { return serve(*given); }; });
}

}  // namespace dvm::cmd
