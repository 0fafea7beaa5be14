// Parts of records that a traced thread makes (runtime/agent/inside/record.h and clause_record.h), in this process.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/agent/inside/clause_record.h"
#include "runtime/agent/inside/record.h"

namespace dvm::runtime::inside {
namespace {

constexpr uint32_t kLanes = 2, kRing = 4096;

uint64_t address_of(const void* at) { return reinterpret_cast<uint64_t>(at); }

// Two pages that can be read, between others that cannot.
class ThreadRecords : public testing::Test {
 protected:
  ThreadRecords() {
    begin_ = static_cast<char*>(mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) + kPage;
    mprotect(begin_, 2 * kPage, PROT_READ | PROT_WRITE);
    std::memset(begin_, 'x', 2 * kPage);
    end_ = begin_ + 2 * kPage;
    context_.armed = address_of(&page_), context_.data = address_of(data_.data()), context_.lasting = address_of(&lasting_);
    context_.lanes = kLanes, context_.ring_bytes = kRing, context_.lane = context_.data + sizeof(DataHeader);
    context_.variables = context_.data + variables_at(kLanes);
    page_.pid = static_cast<uint64_t>(getpid());
    workspace_.lane = &lane_, workspace_.variables = variables().values;
  }
  ~ThreadRecords() override { munmap(begin_ - kPage, 4 * kPage); }

  ThreadVariables& variables() { return reinterpret_cast<ThreadVariables*>(context_.variables)[1]; }
  std::string_view made(uint64_t bytes) const { return {reinterpret_cast<const char*>(record_.data()), bytes}; }
  uint64_t string(const char* from, uint64_t most) {
    record_.fill(~uint64_t{0});
    return read_string(firing_, address_of(from), address_of(record_.data()), most);
  }
  uint64_t fixed(const char* from, uint64_t most) {
    record_.fill(~uint64_t{0});
    return read_fixed(firing_, address_of(from), address_of(record_.data()), most);
  }

  char* begin_;
  char* end_;
  std::vector<uint64_t> data_ = std::vector<uint64_t>(data_bytes(kLanes, kRing) / sizeof(uint64_t));
  ArmedPage page_;
  struct {
    LastingMemory head;
    MemoryRange range;
  } lasting_;
  Context context_;
  Lane& lane_ = reinterpret_cast<Lane*>(reinterpret_cast<DataHeader*>(data_.data()) + 1)[1];
  uint64_t saved_[kSavedWords] = {};
  alignas(8) std::array<uint64_t, 128> record_{};
  Workspace workspace_{};
  ThreadFiring firing_{context_, &lane_, getpid(), 1, saved_, address_of(record_.data()), false, nullptr, nullptr};
};

TEST(RecordValues, AreWidened) {
  const auto widened = [](uint64_t value, uint8_t size, uint8_t is_signed) {
    return widen(value, {.size = size, .is_signed = is_signed});
  };
  EXPECT_EQ(widened(0x123456789abcdef0, 8, 0), 0x123456789abcdef0);
  EXPECT_EQ(widened(0x123456789abcdef0, 4, 0), 0x9abcdef0);
  EXPECT_EQ(widened(0x123456789abcdef0, 4, 1), 0xffffffff9abcdef0);
  EXPECT_EQ(widened(0x12345678, 2, 1), 0x5678);
  EXPECT_EQ(widened(0x80, 1, 1), 0 - uint64_t{0x80});
  EXPECT_EQ(widened(0x180, 1, 0), 0x80);
}

TEST(RecordValues, SayHowMuchWasRead) {
  EXPECT_EQ(length_of_part(0, false), kAbsent);
  EXPECT_EQ(length_of_part(0, true), kNothingThere);
  EXPECT_EQ(length_of_part(5, false), 5);
  EXPECT_EQ(length_of_part(5, true), 5 | kEndHere);
}

TEST_F(ThreadRecords, HaveStrings) {
  for (const uint64_t length : {0, 1, 255, 256, 257, 400}) {
    std::memset(begin_, 'x', kPage);
    begin_[length] = 0;
    EXPECT_EQ(string(begin_, 512), length + 1);
    EXPECT_EQ(made(length), std::string(length, 'x'));
    EXPECT_EQ(string(begin_, length + 1), length + 1);
  }
  for (const uint64_t most : {1, 7, 256, 300, 400}) {
    EXPECT_EQ(string(begin_, most), most);
    EXPECT_EQ(made(most), std::string(most - 1, 'x') + '\0');
  }
  EXPECT_EQ(string(begin_, 0), kAbsent);
}

TEST_F(ThreadRecords, HaveTheFirstBytesOfStringsThatEndNowhere) {
  for (const uint64_t bytes : {1, 8, 255, 256, 257, 300}) {
    EXPECT_EQ(string(end_ - bytes, 400), bytes | kEndHere);
    EXPECT_EQ(made(bytes), std::string(bytes, 'x'));
  }
  EXPECT_EQ(string(end_, 400), kNothingThere);
  end_[-1] = 0;
  EXPECT_EQ(string(end_ - 300, 400), 300);
}

TEST_F(ThreadRecords, HaveWhatCanBeReadOfAFixedSize) {
  end_[-1] = 'e', begin_[0] = 'b';
  EXPECT_EQ(fixed(end_ - 16, 16), 16);
  EXPECT_EQ(made(17), "xxxxxxxxxxxxxxxe\xff");
  EXPECT_EQ(fixed(end_ - 3, 16), 3 | kEndHere);
  EXPECT_EQ(made(17), "xxe" + std::string(13, '\0') + "\xff");
  EXPECT_EQ(fixed(begin_ - 4, 9), 5 | kBeginHere);
  EXPECT_EQ(made(10), std::string("bxxxx") + std::string(4, '\0') + "\xff");
  EXPECT_EQ(fixed(begin_ - 4, 4), kNothingThere);
  EXPECT_EQ(made(5), std::string(4, '\0') + "\xff");
  EXPECT_EQ(fixed(end_, 9), kNothingThere);
  EXPECT_EQ(fixed(reinterpret_cast<const char*>(kPage - 8), 16), kAbsent);
  EXPECT_EQ(made(17), std::string(16, '\0') + "\xff");
}

// The word with the address, that with the size, and the slot behind them.
TEST_F(ThreadRecords, HaveSlots) {
  RecordStep step{.kind = RecordStep::Kind::slot, .at = 16, .most = 20, .value = 3};
  const auto slot = [&](const char* base, uint64_t size = 0) {
    record_.fill(0);
    record_[0] = address_of(base), record_[1] = size;
    firing_.is_cut = false;
    return read_slot(firing_, step);
  };
  EXPECT_EQ(slot(begin_), 16 + 8 + 24);
  EXPECT_EQ(record_[2], 20);
  EXPECT_FALSE(firing_.is_cut);
  EXPECT_EQ(slot(end_ - 8), 16 + 8 + 8);
  EXPECT_EQ(record_[2], 5 | kEndHere);
  EXPECT_EQ(slot(end_), 16 + 8);
  EXPECT_EQ(record_[2], kNothingThere);
  EXPECT_EQ(slot(nullptr), 16 + 8);
  EXPECT_EQ(record_[2], kAbsent);

  step.by = 8, step.size = 2;
  EXPECT_EQ(slot(begin_, 7), 16 + 8 + 16);
  EXPECT_EQ(record_[2], 9);
  EXPECT_FALSE(firing_.is_cut);
  EXPECT_EQ(slot(begin_, 18), 16 + 8 + 24);
  EXPECT_FALSE(firing_.is_cut);
  EXPECT_EQ(slot(begin_, 19), 16 + 8 + 24);
  EXPECT_EQ(record_[2], 20);
  EXPECT_TRUE(firing_.is_cut);
  record_[1] = 0;
  read_slot(firing_, step);
  EXPECT_TRUE(firing_.is_cut);  // the other slot
  EXPECT_EQ(slot(end_ - 4, 7), 16 + 8 + 8);
  EXPECT_EQ(record_[2], 1 | kEndHere);
  EXPECT_EQ(slot(end_ - 3, 7), 16 + 8);
  EXPECT_EQ(record_[2], kNothingThere);
  EXPECT_EQ(slot(reinterpret_cast<const char*>(kPage - 4), 7), 16 + 8);
  EXPECT_EQ(record_[2], kAbsent);  // its page is never looked at

  step.by = 0, step.is_string = 1;
  EXPECT_EQ(slot(begin_), 16 + 8 + 24);
  EXPECT_TRUE(firing_.is_cut);
  begin_[3 + 18] = 0;
  EXPECT_EQ(slot(begin_), 16 + 8 + 24);
  EXPECT_EQ(record_[2], 19);
  EXPECT_FALSE(firing_.is_cut);

  firing_.workspace = &workspace_, workspace_.unreadable = address_of(begin_) + 3;  // it could not be read just now
  EXPECT_EQ(slot(begin_), 16 + 8);
  EXPECT_EQ(record_[2], kAbsent);
  EXPECT_EQ(slot(begin_ + 1), 16 + 8 + 24);
  step.is_string = 0;
  EXPECT_EQ(slot(begin_), 16 + 8);
  EXPECT_EQ(record_[2], kAbsent);
}

// A page that cannot be read follows.
TEST_F(ThreadRecords, LoadNoWordBehindMemoryThatLasts) {
  lasting_.head.ranges = 1, lasting_.range = {address_of(begin_), address_of(end_)};
  for (uint64_t bytes = 1; bytes < 40; bytes++)
    for (uint64_t behind = 0; behind < 10; behind++) {
      EXPECT_EQ(fixed(end_ - bytes - behind, bytes), bytes);
      EXPECT_EQ(made(bytes + 1), std::string(bytes, 'x') + '\xff');
    }
  end_[-1] = 0;
  for (uint64_t bytes = 1; bytes < 40; bytes++)
    for (const uint64_t most : {255, 20}) {
      std::array<uint64_t, 8> to{};
      const std::string expected(std::min(bytes - 1, most), 'x');
      EXPECT_EQ(read_text(context_, &lane_, 0, address_of(end_ - bytes), to.data(), most), expected.size() / 8 + 1);
      EXPECT_EQ(reinterpret_cast<const char*>(to.data()), expected);
    }
}

TEST_F(ThreadRecords, HaveOperandsInMemory) {
  const uint64_t words[] = {1, 0x8070605040302010, 3};
  saved_[2] = address_of(words), saved_[5] = 2;
  RecordStep step{.kind = RecordStep::Kind::memory, .base = 2, .index = 5, .scale = 4};
  EXPECT_EQ(read_operand(firing_, step), words[1]);
  step.size = 4, step.value = 4, step.is_signed = 1;
  EXPECT_EQ(read_operand(firing_, step), 0xffffffff80706050);
  step.index = 0xff, step.value = 8, step.size = 1;
  EXPECT_EQ(read_operand(firing_, step), 0x10);
  step.base = 0xff, step.value = static_cast<int64_t>(address_of(end_ - 2)), step.size = 4;
  EXPECT_EQ(read_operand(firing_, step), 0);  // a part of it
  step.size = 2, step.is_signed = 0;
  EXPECT_EQ(read_operand(firing_, step), 0x7878);
}

TEST_F(ThreadRecords, OfClausesHaveTheirValues) {
  const uint64_t text[] = {0x6867666564636261, 0x69};
  assign_text(context_, workspace_, 2, text, 2);
  variables().values[5] = 55, workspace_.locals[3] = 33, workspace_.time = 44;
  workspace_.unreadable = 66, workspace_.earlier = 77, workspace_.seen = 88;
  ClauseRecord clause;
  clause.number = 9;
  for (const uint8_t value :
       {uint8_t{5}, static_cast<uint8_t>(kMostVariables + 3), kTimeValue, kUnreadableValue, kEarlierValue, kSeenValue})
    clause.values[clause.count++] = value;
  EXPECT_FALSE(has_text(clause));
  EXPECT_EQ(most_value_bytes(&clause), 7 * 8);
  EXPECT_EQ(most_value_bytes(nullptr), 0);
  clause.values[clause.count++] = kTextValue;
  EXPECT_TRUE(has_text(clause));
  clause.values[clause.count++] = kTextValue + 2;
  EXPECT_EQ(most_value_bytes(&clause), 9 * 8 + 2 * (kMostTextBytes + 8));
  EXPECT_EQ(write_values(context_, clause, workspace_, address_of(record_.data())), 11 * 8);
  const uint64_t head = uint64_t{kClauseMark} << 32 | 9;
  const std::vector<uint64_t> expected = {head, 55, 33, 44, 66, 77, 88, 0, 2, text[0], text[1]};
  EXPECT_EQ(std::vector<uint64_t>(record_.begin(), record_.begin() + 11), expected);
}

TEST_F(ThreadRecords, HaveVariablesOfTheirThread) {
  variables().values[5] = 55;
  EXPECT_EQ(&variable_of(firing_, 5), &variables().values[5]);
}

TEST_F(ThreadRecords, LeadFromAStepThatFails) {
  const ClauseStep steps[] = {
      {ClauseStep::Kind::aggregate, 2}, {ClauseStep::Kind::predicate, 2}, {ClauseStep::Kind::fault_record}};
  const ClauseStep* step = steps;
  EXPECT_TRUE(leave_to_record(step, workspace_));
  EXPECT_EQ(step + 1, steps + 2);  // the next one
  EXPECT_EQ(workspace_.failed, 1);
  workspace_.failed = 0, step = steps + 1;
  EXPECT_FALSE(leave_to_record(step, workspace_));
  step = steps + 2;
  EXPECT_FALSE(leave_to_record(step, workspace_));
  EXPECT_EQ(step, steps + 2);
  EXPECT_EQ(workspace_.failed, 0);
}

TEST_F(ThreadRecords, AreOfStringsOfVariables) {
  std::array<uint64_t, kTextWords> to{};
  const auto text = [&](uint64_t most) {
    to.fill(~uint64_t{0});
    const uint32_t words = read_own_text(context_, &lane_, 1, to.data(), most);
    const auto* characters = reinterpret_cast<const char*>(to.data());
    EXPECT_LT(std::strlen(characters), words * 8);
    EXPECT_GE(std::strlen(characters) + 8, words * 8);
    return std::string(characters);
  };
  EXPECT_EQ(text(kMostTextBytes), "");
  const std::string all(kMostTextBytes, 'y');
  std::array<uint64_t, kTextWords> words{};
  std::memcpy(words.data(), all.data(), all.size());
  assign_text(context_, workspace_, 1, words.data(), kTextWords);
  for (const uint64_t most : {1, 7, 8, 9, 16, 255, 256}) EXPECT_EQ(text(most), all.substr(0, most));
  variables().values[1] = 0;
  EXPECT_EQ(text(kMostTextBytes), "");
}

TEST_F(ThreadRecords, HaveTheNameOfTheThread) {
  char before[16];
  prctl(PR_GET_NAME, before);
  for (const std::string name : {"", "short", "eight of", "fifteen letters"}) {
    prctl(PR_SET_NAME, name.c_str());
    for (const uint64_t most : {1, 7, 8, 9, 15, 255}) {
      uint64_t to[2] = {~uint64_t{0}, ~uint64_t{0}};
      const std::string expected = name.substr(0, most);
      EXPECT_EQ(read_name(context_, to, most), expected.size() / 8 + 1) << name << most;
      EXPECT_STREQ(reinterpret_cast<const char*>(to), expected.c_str());
    }
  }
  prctl(PR_SET_NAME, before);
  page_.muted = 1;
  uint64_t to[2] = {};
  EXPECT_EQ(read_name(context_, to, 9), 0);
}

}  // namespace
}  // namespace dvm::runtime::inside
