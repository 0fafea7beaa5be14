// dvm lsp: the language server on standard input and output. Covered by tests/runtime/scenarios/test_lsp.py.

#include "cmd/command.h"

#include <poll.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cmd/lsp/server.h"

namespace dvm::cmd {
namespace {

constexpr size_t kMostBytes = 64 << 20;  // of a message
constexpr size_t kMostHeader = 4096;     // of a line of its head

// Standard input, of which can be asked whether more has arrived.
class Input {
 public:
  bool is_ready(std::chrono::milliseconds within) const {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return at_ < end_ || poll(&input, 1, static_cast<int>(within.count())) > 0;
  }
  // Nothing: the input has ended.
  std::optional<char> get() {
    if (at_ == end_ && !fill()) return std::nullopt;
    return bytes_[at_++];
  }
  // So many bytes, or fewer where the input ends.
  std::string get(size_t count) {
    std::string text;
    while (text.size() < count && (at_ < end_ || fill())) {
      const size_t part = std::min(count - text.size(), end_ - at_);
      text.append(&bytes_[at_], part);
      at_ += part;
    }
    return text;
  }

 private:
  bool fill() {
    const ssize_t got = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
    at_ = 0, end_ = static_cast<size_t>(std::max<ssize_t>(got, 0));
    return end_ > 0;
  }

  std::vector<char> bytes_ = std::vector<char>(1 << 16);
  size_t at_ = 0, end_ = 0;
};

// Checks what has changed once the editor pauses as long as the last check took, but no later than a second after the change.
class Checks {
 public:
  using Clock = std::chrono::steady_clock;
  void check_if_idle(lsp::Server& server, const Input& input) {
    const Clock::time_point now = Clock::now();
    if (!is_waiting_) waits_since_ = now;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(waits_since_ + kLongest - now);
    is_waiting_ = server.has_changes() && left.count() > 0 && input.is_ready(std::min(pause_, left));
    if (is_waiting_ || !server.has_changes()) return;
    const Clock::time_point begin = Clock::now();
    server.check_changes();
    pause_ = std::min(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin), kLongestPause);
  }

 private:
  static constexpr std::chrono::milliseconds kLongestPause{300}, kLongest{1000};
  std::chrono::milliseconds pause_{0};
  bool is_waiting_ = false;
  Clock::time_point waits_since_;
};

// A line of the head without its end; nothing: the input has ended.
std::optional<std::string> read_line(Input& in) {
  std::string line;
  while (const auto c = in.get()) {
    if (*c == '\n') {
      if (line.ends_with('\r')) line.pop_back();
      return line;
    }
    if (line.size() < kMostHeader) line += *c;
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

std::optional<size_t> length_in(std::string_view line) {
  constexpr std::string_view kName = "content-length:";
  const auto is_same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  const std::string_view name = line.substr(0, kName.size());
  if (!std::equal(name.begin(), name.end(), kName.begin(), kName.end(), is_same)) return std::nullopt;
  line.remove_prefix(std::min(line.find_first_not_of(' ', kName.size()), line.size()));
  size_t length = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
  return error == std::errc() && end == line.data() + line.size() ? std::optional(length) : std::nullopt;
}

// The next message; empty: the input has ended. An error: what follows cannot be found.
Result<std::string> read_message(Input& in) {
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
  return in.get(*length);
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
  Input input;
  Checks checks;
  while (!server.has_ended()) {
    checks.check_if_idle(server, input);
    const Result<std::string> text = read_message(input);
    if (!text) return fail("{}", text.error().message);
    if (text->empty()) {
      server.check_changes();
      break;
    }
    const lsp::Json message = lsp::Json::parse(*text, nullptr, false);
    if (message.is_discarded())
      server.refuse("the message is not JSON");
    else
      server.handle(message);
  }
  return server.status();
}

}  // namespace

void add_lsp(CLI::App& app, CommandAction& chosen) {
  auto given = std::make_shared<ScriptOptions>();
  CLI::App* command = add_command(
      app, "lsp", "Serve an editor: diagnostics, completion, documentation and costs of D scripts",
      {"dvm lsp", "dvm lsp -p 1234     # know the functions and types of this process",
       "dvm lsp -C -I inc   # scripts have #include and #define"},
      "It speaks the Language Server Protocol on standard input and output. Configure an editor to start it for D scripts.");
  command->add_option("-p", given->pids, "Complete the probes, types and variables of this process")->type_name("PID");
  add_preprocessor_options(*command, *given);
  add_setting_options(*command, *given);
  command->callback([given, &chosen] { chosen = [given] { return serve(*given); }; });
}

}  // namespace dvm::cmd
