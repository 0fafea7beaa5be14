// Output of programs while dvm draws goes to dvm, and to the terminal after dvm has ended.

#include "export/program_terminal.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <string>

namespace dvm::exporting {
namespace {

TEST(WithoutMovement, ColoursStayAndTheCursorDoes) {
  EXPECT_EQ(without_movement("a\tb\r\n\033[31mred\033[2J\033[5;5H\x07\x1b]0;t\x7f\n"), "a\tb\n\033[31mred]0;t\n\033[0m");
  EXPECT_EQ(without_movement("\303\244 \033["), "\303\244 ");
  EXPECT_EQ(without_movement(""), "");
}

class ProgramTerminalTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(openpty(&screen_, &terminal_, nullptr, nullptr, nullptr), 0);
    auto opened = ProgramTerminal::open(terminal_);
    ASSERT_TRUE(opened) << opened.error().message;
    programs_ = *std::move(opened);
  }
  void TearDown() override {
    programs_.reset();
    close(screen_), close(terminal_);
  }
  void print(const std::string& text) {
    ASSERT_EQ(write(programs_->output(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // Until there are as many bytes.
  std::string taken(size_t bytes) {
    std::string all;
    for (int i = 0; i < 60000 && all.size() < bytes; i++) {
      all += programs_->take_lines();
      usleep(1000);
    }
    return all;
  }

  int screen_ = -1, terminal_ = -1;
  std::unique_ptr<ProgramTerminal> programs_;
};

TEST_F(ProgramTerminalTest, ProgramsHaveATerminalAndWholeLinesAreHandedOut) {
  EXPECT_EQ(isatty(programs_->output()), 1);
  print("one\ntwo\nthr");
  EXPECT_EQ(taken(8), "one\ntwo\n");
  print("ee\n");
  EXPECT_EQ(taken(6), "three\n");
}

TEST_F(ProgramTerminalTest, TheRelayPrintsWhatFollows) {
  print("mine\nrest");
  EXPECT_EQ(taken(5), "mine\n");
  EXPECT_EQ(programs_->let_go(), "rest");
  print("theirs\n");
  char bytes[16] = "";
  ASSERT_GT(read(screen_, bytes, 6), 0);  // waits for it
  EXPECT_EQ(std::string(bytes, 6), "theirs");
}

}  // namespace
}  // namespace dvm::exporting
