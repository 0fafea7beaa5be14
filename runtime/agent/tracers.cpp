// Tested by tests/unit/instrument/detach_test.cpp.

#include "runtime/agent/tracers.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

// A word of /proc/PID/stat, counted behind the name, which may have spaces. Empty: the process does not exist.
std::string stat_word(pid_t pid, int number) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const size_t end = text.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream words(text.substr(end + 1));
  std::string word;
  for (int i = 0; i < number; i++) words >> word;
  return word;
}

uint64_t stat_number(pid_t pid, int number) { return std::strtoull(stat_word(pid, number).c_str(), nullptr, 10); }

// Its parent may not wait for it for a long time, or never.
bool has_ended(pid_t pid) {
  const std::string state = stat_word(pid, 1);
  return state.empty() || state == "Z" || state == "X";
}

// A process has one in each PID namespace from dvm's down to its own. Kernels without such namespaces do not list them.
bool has_number(pid_t pid, pid_t number) {
  const std::string all = status_field(pid, "NSpid:");
  if (all.empty()) return pid == number;
  std::istringstream numbers(all);
  return std::find(std::istream_iterator<pid_t>(numbers), {}, number) != std::istream_iterator<pid_t>();
}

}  // namespace

uint32_t pid_space(const std::string& process) {
  struct stat space {};
  return stat(("/proc/" + process + "/ns/pid").c_str(), &space) == 0 ? static_cast<uint32_t>(space.st_ino) : 0;
}

uint64_t start_time(pid_t pid) { return stat_number(pid, 20); }
pid_t parent_of(pid_t pid) { return static_cast<pid_t>(stat_number(pid, 2)); }

// Kept, because the guard asks when the tracer has ended.
uint64_t tracer_began(pid_t tracer) {
  static std::atomic<pid_t> last{0};
  static std::atomic<uint64_t> began{0};
  if (last != tracer) began = start_time(tracer), last = tracer;
  return began;
}

bool is_of_tracer(const FoundAgent& agent, pid_t tracer) {
  const uint64_t began = tracer_began(tracer);
  return agent.header.tracer == tracer && (began == 0 || agent.header.tracer_began == began);
}

// A PID namespace with a visible process lies below dvm's, so that all of its processes are visible.
bool may_be_hidden(uint32_t space) {
  constexpr uint32_t kFirst = 0xeffffffc;
  const uint32_t own = pid_space("self");
  if (space == 0 || own == 0 || space == own || own == kFirst) return false;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc", error); !error && it != std::filesystem::directory_iterator();
       it.increment(error))
    if (const std::string name = it->path().filename(); std::atoi(name.c_str()) > 0 && pid_space(name) == space) return false;
  return true;
}

// In a container the tracer has another number than here. One that is not visible from there is taken to live.
bool is_traced(const FoundAgent& agent) {
  const auto is_tracer = [&](pid_t pid) {
    const uint64_t began = start_time(pid);
    return began != 0 && began == agent.header.tracer_began && has_number(pid, agent.header.tracer) && !has_ended(pid);
  };
  if (is_tracer(agent.header.tracer)) return true;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc", error); !error && it != std::filesystem::directory_iterator();
       it.increment(error))
    if (const int pid = std::atoi(it->path().filename().c_str()); pid > 0 && is_tracer(pid)) return true;
  return may_be_hidden(agent.header.tracer_space);
}

}  // namespace dvm::runtime
