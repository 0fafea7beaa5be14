// Children that do what they are told, and end with whoever tells them.

#include "common/piped_child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <csignal>
#include <string>
#include <utility>

namespace dvm {
namespace {

constexpr int kLongMs = 10'000;

TEST(PipedChild, EachOrderHasAnAnswer) {
  int times = 0;  // the child's is another one
  auto child = AnsweringChild<int, long>::start([&times](int number) { return 100L * number + ++times; });
  ASSERT_TRUE(child) << child.error().message;
  EXPECT_FALSE(child->is_done());
  EXPECT_EQ(*child->ask(3), 301);
  ASSERT_TRUE(child->tell(4));
  EXPECT_EQ(*child->finish(), 402);
  EXPECT_EQ(times, 0);
}

TEST(PipedChild, OneThatHasEndedIsAnError) {
  auto child = AnsweringChild<int, int>::start([](int) -> int { _exit(0); });
  ASSERT_TRUE(child) << child.error().message;
  const auto answer = child->ask(1);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "a child ended early");
}

TEST(PipedChild, ItMayBecomeAnotherProgram) {
  auto child = PipedChild::start([](int orders, int answers) {
    dup2(orders, STDIN_FILENO), dup2(answers, STDOUT_FILENO);
    execlp("cat", "cat", nullptr);
  });
  ASSERT_TRUE(child) << child.error().message;
  ASSERT_TRUE((*child)->tell("hello", 5));
  EXPECT_TRUE((*child)->wait(-1));
  char text[16] = {};
  EXPECT_EQ((*child)->hear(text, sizeof text), 5u);
  EXPECT_STREQ(text, "hello");
  EXPECT_FALSE((*child)->wait(0));
}

// Its writing end every process has that is forked meanwhile: it has an end of file when they have ended.
class SharedPipe {
 public:
  SharedPipe() { ok_ = pipe2(ends_, O_CLOEXEC) == 0; }
  ~SharedPipe() { close(ends_[0]), close(ends_[1]); }
  SharedPipe(const SharedPipe&) = delete;
  SharedPipe& operator=(const SharedPipe&) = delete;

  bool ok() const { return ok_; }
  void put(char letter) { EXPECT_EQ(write(ends_[1], &letter, 1), 1); }
  // Everything written until the children ended; "-" if they did not end.
  std::string all() {
    close(std::exchange(ends_[1], -1));
    std::string text;
    for (pollfd end{ends_[0], POLLIN, 0}; poll(&end, 1, kLongMs) == 1;) {
      char letter;
      if (read(ends_[0], &letter, 1) != 1) return text;
      text += letter;
    }
    return text + "-";
  }

 private:
  int ends_[2] = {-1, -1};
  bool ok_;
};

TEST(PipedChild, EndsWithItsObjectByItsSignal) {
  SharedPipe pipe;
  ASSERT_TRUE(pipe.ok());
  {
    auto child = PipedChild::start(
        [&pipe](int, int answers) {
          sigset_t interrupt;
          sigemptyset(&interrupt), sigaddset(&interrupt, SIGINT);
          sigprocmask(SIG_BLOCK, &interrupt, nullptr);
          int signal = 0;
          if (write(answers, "x", 1) == 1 && sigwait(&interrupt, &signal) == 0) pipe.put(signal == SIGINT ? 'i' : '?');
        },
        SIGINT);
    ASSERT_TRUE(child) << child.error().message;
    ASSERT_TRUE((*child)->wait(kLongMs));
  }
  EXPECT_EQ(pipe.all(), "i");
}

TEST(PipedChild, EndsWithItsParent) {
  SharedPipe pipe;
  ASSERT_TRUE(pipe.ok());
  auto parent = PipedChild::start([](int, int answers) {
    const auto child = PipedChild::start([](int, int) {
      for (;;) pause();
    });
    if (child && write(answers, "x", 1) == 1) pause();
  });
  ASSERT_TRUE(parent) << parent.error().message;
  ASSERT_TRUE((*parent)->wait(kLongMs));
  kill((*parent)->pid(), SIGKILL);
  EXPECT_EQ(pipe.all(), "");
}

}  // namespace
}  // namespace dvm
