// Opens, resumes and watches the traced processes. Covered by tests/runtime/scenarios/test_process.py.

#include "cmd/targets.h"

#include <fmt/core.h>
#include <poll.h>

#include "cmd/script.h"
#include "runtime/process/proc_files.h"
#include "runtime/symbol/find_main.h"

namespace dvm::cmd {
namespace {

constexpr int kLookAgainMs = 50;  // how soon the watcher sees that it is to stop

bool is_gone(int wait_fd) {
  pollfd one{wait_fd, POLLIN, 0};
  return poll(&one, 1, kLookAgainMs) > 0;
}

// The environment of the program that -c starts: dvm's own, changed by the options unsetenv and setenv.
runtime::Environment environment(const dif::Options& options) {
  runtime::Environment all = runtime::own_environment();
  const auto name_of = [](const std::string& variable) { return variable.substr(0, variable.find('=')); };
  const auto remove = [&](const std::string& name) { std::erase_if(all, [&](const auto& one) { return name_of(one) == name; }); };
  for (const std::string& name : options.texts(dif::Option::unsetenv)) remove(name);
  for (const std::string& variable : options.texts(dif::Option::setenv)) {
    remove(name_of(variable));
    all.push_back(variable.find('=') == std::string::npos ? variable + "=" : variable);
  }
  return all;
}

// In the order of the values of the option (option_kinds.def): exec, preinit, postinit, main.
runtime::StartPoint start_point(int64_t evaltime, int terminal) {
  runtime::StartPoint point{.terminal = terminal, .at_exec = evaltime == 0};
  if (evaltime == 1) point.find_loaded = runtime::find_loaded;
  if (evaltime > 1) point.find_main = runtime::find_main;
  return point;
}

}  // namespace

Result<Targets> Targets::open(const ScriptOptions& given, const dif::Options& options, int terminal) {
  // A script that is only compiled (-e) needs no process.
  if (!given.may_match_nothing || !given.pids.empty() || !given.commands.empty())
    if (Status there = runtime::check_proc(); !there) return there.error();
  Targets targets;
  for (pid_t pid : given.pids) {
    if (pid > 0 && runtime::is_gone(pid))
      return Error{fmt::format("No such process\n    hint: process {} has exited, or there was none", pid)};
    Result<runtime::Process> process = runtime::Process::grab(pid);
    if (!process) return process.error();
    targets.processes_.push_back(std::move(*process));
  }
  for (const std::string& command : given.commands) {
    Result<runtime::Process> process = runtime::Process::spawn(std::string_view(command), environment(options),
                                                               start_point(options[dif::Option::evaltime], terminal));
    if (!process) return process.error();
    targets.processes_.push_back(std::move(*process));
  }
  return targets;
}

Status Targets::resume(const std::function<bool(pid_t)>& is_held) {
  for (runtime::Process& process : processes_) {
    Status resumed = process.resume(is_held(process.pid()));
    if (!resumed) return resumed;
  }
  return {};
}

void Targets::watch(std::function<void()> all_gone) {
  if (processes_.empty()) return;
  std::vector<int> fds;
  for (const runtime::Process& process : processes_) fds.push_back(process.wait_fd());
  watcher_ = std::jthread([fds = std::move(fds), all_gone = std::move(all_gone)](const std::stop_token& stop) mutable {
    while (!stop.stop_requested() && !fds.empty())
      if (is_gone(fds.back())) fds.pop_back();
    if (fds.empty()) all_gone();
  });
}

void Targets::stop_watching() {
  if (!watcher_.joinable()) return;
  watcher_.request_stop();
  watcher_.join();
}

std::vector<std::string> Targets::take_exit_notices(bool with_success) {
  std::vector<std::string> notices;
  for (runtime::Process& process : processes_) {
    if (!process.has_exited() || !told_.insert(process.pid()).second) continue;
    const std::optional<runtime::Ending> ending = process.ending();
    const bool is_success = process.is_child() && ending && ending->status == 0 && ending->signal == 0;
    if (with_success || !is_success) notices.push_back(runtime::describe_ending(process.pid(), ending));
  }
  return notices;
}

}  // namespace dvm::cmd
