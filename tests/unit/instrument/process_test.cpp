// Starting, stopping and watching processes.

#include "runtime/process/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "runtime/process/reaped.h"
#include "runtime/process/thread_status.h"
#include "runtime/symbol/find_main.h"
#include "tests/support/skip.h"

namespace dvm::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kPrograms = DVM_BINARY_DIR "/tests/unit/instrument/";

std::string state_of(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:")) return line.substr(7, 1);
  }
  return "gone";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool wait_exit(Process& process) {
  pollfd fd{process.wait_fd(), POLLIN, 0};
  return poll(&fd, 1, 20'000) == 1 && process.has_exited();
}

std::string how(Process& process) {
  const std::string said = describe_ending(process.pid(), process.ending());
  return said.substr(fmt::format("pid {} ", process.pid()).size());
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) == 0; }

// The bytes in memory of the child at an address; its entry point comes from its own file, for a program at a fixed address.
std::string memory_at(pid_t pid, uint64_t address, size_t size) {
  std::ifstream mem(fmt::format("/proc/{}/mem", pid), std::ios::binary);
  mem.seekg(static_cast<std::streamoff>(address));
  std::string bytes(size, '\0');
  mem.read(bytes.data(), static_cast<std::streamsize>(size));
  return bytes;
}

TEST(SplitCommand, KnowsBlanksAndQuotes) {
  EXPECT_THAT(*split_command("a b\tc"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*split_command("  a  "), ElementsAre("a"));
  EXPECT_THAT(*split_command("a 'b c' \"d e\""), ElementsAre("a", "b c", "d e"));
  EXPECT_THAT(*split_command("a'b'\"c\"d"), ElementsAre("abcd"));
  EXPECT_THAT(*split_command("a ''"), ElementsAre("a", ""));
  EXPECT_THAT(*split_command("a\\ b \"c\\\"d\" 'e\\f' \"g\\h\""), ElementsAre("a b", "c\"d", "e\\f", "g\\h"));
  EXPECT_THAT(*split_command("echo $HOME *"), ElementsAre("echo", "$HOME", "*"));
}

TEST(SplitCommand, RefusesWhatIsUnfinished) {
  EXPECT_FALSE(split_command("a 'b"));
  EXPECT_FALSE(split_command("a \"b"));
  EXPECT_FALSE(split_command("a \\"));
  EXPECT_FALSE(split_command("   "));
}

class Spawn : public testing::TestWithParam<const char*> {};

TEST(FindProgram, LooksInPathAndFollowsLinks) {
  EXPECT_EQ(*find_program("/proc/self/exe"), std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_EQ(*find_program("true"), std::filesystem::canonical(*find_program("true")));
  EXPECT_EQ(find_program("nosuchprogram").error().message, "failed to execute nosuchprogram: No such file or directory");
  EXPECT_EQ(find_program("/etc/passwd").error().message, "failed to execute /etc/passwd: Permission denied");
  EXPECT_EQ(find_program("/tmp").error().message, "failed to execute /tmp: Permission denied");
}

TEST_P(Spawn, StopsBeforeMainThenRuns) {
  std::string out = fmt::format("{}/spawn-{}-{}.out", testing::TempDir(), GetParam(), getpid());
  auto process = Process::spawn({"/bin/sh", "-c", "exec " + kPrograms + GetParam() + " exit 3"});
  ASSERT_TRUE(process) << process.error().message;
  auto direct = Process::spawn({kPrograms + GetParam(), "exit", "3"});
  ASSERT_TRUE(direct) << direct.error().message;
  EXPECT_EQ(direct->name(), std::string(GetParam()).substr(0, 15));
  EXPECT_EQ(state_of(direct->pid()), "t");
  EXPECT_FALSE(direct->has_exited());
  EXPECT_FALSE(direct->ending());
  for (Process* each : {&*process, &*direct}) {
    ASSERT_TRUE(each->resume());
    ASSERT_TRUE(each->resume());
    ASSERT_TRUE(wait_exit(*each));
    EXPECT_EQ(how(*each), "exited with status 3");
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Spawn, testing::Values("source_pie", "source_fixed", "source_static"));

TEST(Process, HasItsLibrariesMappedAndItsCodeUnchanged) {
  auto process = Process::spawn({kPrograms + "source_fixed", "wait"});
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_THAT(text_of(fmt::format("/proc/{}/maps", process->pid())), HasSubstr("/libc.so"));
  std::string header = memory_at(process->pid(), 0x400000, 64);
  uint64_t entry = 0;
  memcpy(&entry, header.data() + 24, sizeof entry);
  std::ifstream file(kPrograms + "source_fixed", std::ios::binary);
  file.seekg(static_cast<std::streamoff>(entry - 0x400000));
  std::string expected(16, '\0');
  file.read(expected.data(), 16);
  EXPECT_EQ(memory_at(process->pid(), entry, 16), expected);
}

TEST(Process, TakesACommandAsText) {
  auto process = Process::spawn(std::string_view("sh -c 'exit 5'"));
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(process->resume());
  ASSERT_TRUE(wait_exit(*process));
  EXPECT_EQ(how(*process), "exited with status 5");
}

TEST(Process, RunsAScript) {
  std::string script = testing::TempDir() + fmt::format("/script-{}.sh", getpid());
  std::ofstream(script) << "#!/bin/sh\nexit 6\n";
  chmod(script.c_str(), 0755);
  auto process = Process::spawn(std::vector{script});
  ASSERT_TRUE(process) << process.error().message;
  ASSERT_TRUE(process->resume());
  ASSERT_TRUE(wait_exit(*process));
  EXPECT_EQ(how(*process), "exited with status 6");
  unlink(script.c_str());
}

TEST(Process, WhatCannotBeStartedIsAnErrorAndLeavesNoChild) {
  auto reason = [](std::vector<std::string> words) {
    auto process = Process::spawn(words);
    return process ? std::string("started") : process.error().message;
  };
  EXPECT_EQ(reason({"/nonexistent/program"}), "failed to execute /nonexistent/program: No such file or directory");
  EXPECT_EQ(reason({"no-such-command-in-path"}), "failed to execute no-such-command-in-path: No such file or directory");
  EXPECT_EQ(reason({"/etc/passwd"}), "failed to execute /etc/passwd: Permission denied");
  EXPECT_THAT(reason({"/tmp"}), HasSubstr("Permission denied"));
  EXPECT_THAT(reason({""}), HasSubstr("failed to exec"));
  EXPECT_THAT(reason({}), HasSubstr("empty"));
  EXPECT_FALSE(has_children());
}

TEST(Process, ACorruptProgramIsAnErrorAndLeavesNoChild) {
  std::string path = testing::TempDir() + fmt::format("/corrupt-{}", getpid());
  std::string bytes = text_of(kPrograms + "source_pie");
  size_t interpreter = bytes.find("/lib64/ld-linux");
  ASSERT_NE(interpreter, std::string::npos);
  bytes.replace(interpreter, 6, "/lib65");
  std::ofstream(path, std::ios::binary) << bytes;
  chmod(path.c_str(), 0755);
  auto process = Process::spawn(std::vector{path});
  ASSERT_FALSE(process);
  EXPECT_THAT(process.error().message, HasSubstr("No such file"));
  EXPECT_FALSE(has_children());
  unlink(path.c_str());
}

TEST(Process, AChildDoesNotOutliveItsObject) {
  for (bool resumed : {false, true}) {
    pid_t pid = 0;
    {
      auto process = Process::spawn({kPrograms + "source_pie", "wait"});
      ASSERT_TRUE(process);
      pid = process->pid();
      if (resumed) {
        ASSERT_TRUE(process->resume());
      }
    }
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_FALSE(has_children());
  }
}

TEST(Process, KillEndsAChild) {
  auto process = Process::spawn({kPrograms + "source_pie", "wait"});
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->resume());
  process->kill();
  EXPECT_TRUE(process->has_exited());
  EXPECT_EQ(how(*process), "terminated by SIGKILL");
}

TEST(Process, HasExitedAlsoIfSomebodyElseHasWaitedForIt) {
  auto process = Process::spawn({kPrograms + "source_pie", "wait"});
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->resume());
  kill(process->pid(), SIGTERM);
  EXPECT_EQ(waitpid(process->pid(), nullptr, __WALL), process->pid());
  EXPECT_TRUE(process->has_exited());
}

// Code of dvm that waits for the stops of its threads.
TEST(Process, KnowsAnEndThatAnotherPartOfTheTracerHasWaitedFor) {
  for (const bool is_asked : {false, true}) {
    auto process = Process::spawn({"sh", "-c", "exit 7"});
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->resume());
    int status = 0;
    while (look_at_thread(process->pid(), status) == 0) usleep(100);
    EXPECT_EQ(WEXITSTATUS(status), 7);
    const int kept = is_asked ? take_status(process->pid()).value_or(0) : status;
    EXPECT_EQ(kept, status);
    EXPECT_TRUE(process->has_exited());
    const std::string said = is_asked ? "exited with status 7" : how(*process);
    EXPECT_EQ(said, "exited with status 7");
    EXPECT_FALSE(take_status(process->pid()));
  }
}

// A thread that dvm traces and has not waited for keeps its process from ending.
TEST(Process, KillEndsAChildWithTracedThreads) {
  auto process = Process::spawn({DVM_BINARY_DIR "/tests/programs/threads", "2", "100000000000"});
  ASSERT_TRUE(process);
  const pid_t pid = process->pid();
  ASSERT_TRUE(process->resume());
  while (threads_of(pid).size() < 3) usleep(1000);
  for (const pid_t tid : threads_of(pid)) ASSERT_EQ(ptrace(PTRACE_SEIZE, tid, 0, 0), 0);
  process->kill();
  EXPECT_EQ(how(*process), "terminated by SIGKILL");
  EXPECT_FALSE(has_children());
}

TEST(Process, ASignalThatEndsTheChildIsItsStatus) {
  auto process = Process::spawn({kPrograms + "source_pie", "wait"});
  ASSERT_TRUE(process);
  ASSERT_TRUE(process->resume());
  kill(process->pid(), SIGTERM);
  ASSERT_TRUE(wait_exit(*process));
  EXPECT_EQ(how(*process), "terminated by SIGTERM");
}

// dvm is killed with the child still at its start: the kernel kills the child too. After resume() the child lives on.
TEST(Process, OutlivesItsTracerOnlyOnceResumed) {
  for (bool resumed : {false, true}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    pid_t tracer = fork();
    if (tracer == 0) {
      auto process = Process::spawn({kPrograms + "source_pie", "wait"});
      pid_t pid = process ? process->pid() : -1;
      if (process && resumed && !process->resume()) pid = -1;
      if (write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
      pause();
    }
    pid_t child = 0;
    ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    ASSERT_GT(child, 0);
    kill(tracer, SIGKILL);
    waitpid(tracer, nullptr, 0);
    for (int i = 0; i < 200 && !resumed && kill(child, 0) == 0 && state_of(child) != "Z"; i++) usleep(10'000);
    std::string state = state_of(child);
    EXPECT_EQ(state == "gone" || state == "Z", !resumed) << state;
    if (resumed) kill(child, SIGKILL);
    close(ends[0]);
    close(ends[1]);
  }
}

// An instrument that holds the child takes PTRACE_O_EXITKILL off. If dvm is killed then, no SIGTRAP of the start ends the child.
TEST(Process, NoSignalOfItsStartIsLeftByAKilledTracer) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const StartPoint& point : {StartPoint{}, StartPoint{.find_loaded = find_loaded}}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t tracer = fork();
    if (tracer == 0) {
      auto process = Process::spawn("/bin/true", own_environment(), point);
      const pid_t pid = process && ptrace(PTRACE_SETOPTIONS, process->pid(), 0, 0) == 0 ? process->pid() : -1;
      if (write(ends[1], &pid, sizeof pid) == sizeof pid) pause();
      _exit(1);
    }
    pid_t child = 0;
    ASSERT_EQ(read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
    kill(tracer, SIGKILL);
    waitpid(tracer, nullptr, 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    close(ends[0]);
    close(ends[1]);
  }
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Grab, WatchesAProcessToItsEnd) {
  pid_t pid = fork();
  if (pid == 0) {
    pause();
    _exit(0);
  }
  auto process = Process::grab(pid);
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ(process->pid(), pid);
  EXPECT_EQ(process->name(), "process_test");
  EXPECT_FALSE(process->is_child());
  EXPECT_FALSE(process->has_exited());
  EXPECT_TRUE(process->resume());
  {
    Process moved = std::move(*process);
    EXPECT_EQ(moved.pid(), pid);
  }
  EXPECT_EQ(kill(pid, 0), 0);  // a grabbed process is left alone
  process = Process::grab(pid);
  ASSERT_TRUE(process);
  kill(pid, SIGKILL);
  EXPECT_TRUE(wait_exit(*process));
  EXPECT_EQ(how(*process), "terminated by SIGKILL");  // its parent has not waited for it
  waitpid(pid, nullptr, 0);
}

TEST(Grab, HowItEndedIsKnownFromTheKernelOnceItsParentHasWaited) {
  const pid_t pid = fork();
  if (pid == 0) pause();
  auto process = Process::grab(pid);
  ASSERT_TRUE(process);
  EXPECT_FALSE(process->ending());
  EXPECT_FALSE(is_gone(pid));
  kill(pid, SIGUSR1);
  waitpid(pid, nullptr, 0);
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(wait_exit(*process));
  EXPECT_THAT(how(*process), testing::AnyOf("terminated by SIGUSR1", "has exited"));  // Linux 6.15 and later, and before
}

TEST(Grab, AProcessIsGoneOnceItHasNoMemory) {
  const pid_t pid = fork();
  if (pid == 0) {  // the kernel takes time to free this
    constexpr size_t kSize = 256 << 20;
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, kSize, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < kSize; i += 4096) static_cast<volatile char*>(memory)[i] = 1;
    _exit(0);
  }
  const std::string program = fmt::format("/proc/{}/exe", pid);
  for (char path[256]; readlink(program.c_str(), path, sizeof path) > 0;) continue;
  EXPECT_TRUE(is_gone(pid)) << state_of(pid);
  waitpid(pid, nullptr, 0);
}

TEST(Grab, AProcessIsNotGoneIfNoFileCanBeOpened) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool is_own_gone = is_gone(getpid()), is_other_gone = is_gone(INT32_MAX);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(is_own_gone);
  EXPECT_TRUE(is_other_gone);
}

TEST(Ending, IsSaidAsDtraceDoes) {
  EXPECT_EQ(describe_ending(7, std::nullopt), "pid 7 has exited");
  EXPECT_EQ(describe_ending(7, Ending{0, 0}), "pid 7 has exited");
  EXPECT_EQ(describe_ending(7, Ending{3, 0}), "pid 7 exited with status 3");
  EXPECT_EQ(describe_ending(7, Ending{0, SIGSEGV}), "pid 7 terminated by SIGSEGV");
  EXPECT_EQ(describe_ending(7, Ending{0, 40}), "pid 7 terminated by signal 40");
}

TEST(Grab, SaysWhyNot) {
  auto reason = [](pid_t pid) {
    auto process = Process::grab(pid);
    return process ? std::string("grabbed") : process.error().message;
  };
  pid_t gone = fork();
  if (gone == 0) _exit(0);
  usleep(50'000);
  EXPECT_THAT(reason(gone), HasSubstr("it has exited"));  // a zombie
  waitpid(gone, nullptr, 0);
  EXPECT_EQ(reason(gone), fmt::format("failed to grab process {}: no such process", gone));
  EXPECT_THAT(reason(0), HasSubstr("no such process"));
  EXPECT_THAT(reason(-1), HasSubstr("no such process"));
  EXPECT_THAT(reason(getpid()), HasSubstr("itself"));
}

TEST(Grab, AThreadIsNoProcess) {
  std::atomic<pid_t> tid = 0;
  std::jthread thread([&](const std::stop_token& stop) {
    tid = gettid();
    while (!stop.stop_requested()) usleep(1000);
  });
  while (tid == 0) usleep(1000);
  const auto process = Process::grab(tid);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message,
            fmt::format("failed to grab process {}: it is a thread of process {}", tid.load(), getpid()));
}

TEST(Grab, AProcessWithoutItsFirstThreadIsRefusedButNotGone) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);  // ends this thread alone
  }
  for (int i = 0; i < 1000 && state_of(pid) != "Z"; i++) usleep(10'000);
  EXPECT_FALSE(is_gone(pid));
  const auto process = Process::grab(pid);
  ASSERT_FALSE(process);
  EXPECT_THAT(process.error().message, HasSubstr("its first thread has ended"));
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
}

TEST(Grab, AnotherUsersProcessIsRefused) {
  if (geteuid() != 0) DVM_SKIP("needs root, to become another user");
  pid_t pid = fork();
  if (pid == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(2);
    auto process = Process::grab(getppid());
    _exit(!process && process.error().message.find("permission denied") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// Its first thread has ended; the other one then takes over its number.
[[noreturn]] void execute_in_another_thread() {
  const pid_t first = getpid();
  std::thread([first] {
    while (!status_field(first, first, "State:").starts_with('Z')) usleep(100);
    execlp("sleep", "sleep", "100", nullptr);
    _exit(1);
  }).detach();
  syscall(SYS_exit, 0);
  _exit(1);
}

TEST(Grab, AProcessIsNotGoneWhileAnotherThreadExecutesAProgram) {
  for (int i = 0; i < 40; i++) {
    const pid_t child = fork();
    if (child == 0) execute_in_another_thread();
    bool has_executed = false, seems_gone = false;
    while (!has_executed && !seems_gone) {
      has_executed = status_field(child, "Name:") == "sleep";
      seems_gone = is_gone(child);
    }
    EXPECT_FALSE(seems_gone) << i;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
}

TEST(ThreadStatus, FieldsAreFoundByTheirName) {
  EXPECT_EQ(status_field(getpid(), "Tgid:"), std::to_string(getpid()));
  EXPECT_EQ(status_field(getpid(), getpid(), "Tgid:"), std::to_string(getpid()));
  EXPECT_EQ(status_field(getpid(), "NoSuchField:"), "");
  EXPECT_EQ(status_field(getppid(), getpid(), "State:"), "");  // no thread of that process
}

TEST(ThreadStatus, ATracerIsNamed) {
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(hold_problem(child), fmt::format("process {} traces it already (a debugger?)", getpid()));
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  EXPECT_THAT(hold_problem(getpid()), Not(HasSubstr("traces it already")));
}

}  // namespace
}  // namespace dvm::runtime
