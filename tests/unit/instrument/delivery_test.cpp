// Sites whose records are alike share a group, and each firing is that of its own probe.
#include "runtime/instrument/uprobe/delivery.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

namespace dvm::runtime {
namespace {

constexpr int32_t kPid = 7;

RecordLayout layout(uint16_t args, SiteKind kind = SiteKind::entry) {
  CaptureNeeds needs;
  needs.args = args;
  return make_layout(possible_needs(needs, kind), kind);
}

uint16_t shared(Delivery& delivery, const RecordLayouts& layouts, const FiredAt& place = {1}, int32_t pid = kPid) {
  const auto group = delivery.share(layouts, pid, place);
  EXPECT_TRUE(group) << (group ? "" : group.error().message);
  return group ? *group : uint16_t{0};
}

struct Fired final : EventSink {
  bool fire(vm::Firing& firing) noexcept override { return probe = firing.probe_id, first = firing.args[0], true; }
  bool change(const ProcessChange&) noexcept override { return true; }
  uint32_t probe = 0;
  uint64_t first = 0;
};

TEST(Delivery, ManySitesShareOneGroup) {
  constexpr uint32_t kSites = 75'010;
  Delivery delivery;
  std::set<uint64_t> cookies;
  for (uint32_t id = 1; id <= kSites; id++) {
    const FiredAt entry{id}, exit{id + kSites, 0, id % 100};
    cookies.insert(make_cookie(delivery.number(entry), shared(delivery, layout(0b10), entry)));
    cookies.insert(make_cookie(delivery.number(exit), shared(delivery, layout(0b10), exit)));
  }
  EXPECT_EQ(delivery.groups(), 2u);
  ASSERT_EQ(cookies.size(), 2 * kSites);
  Fired fired;
  uint64_t record[] = {*cookies.begin(), 0};
  EXPECT_TRUE(delivery.deliver(std::as_bytes(std::span(record)), fired));
  EXPECT_EQ(fired.probe, 1u);
  record[0] = *cookies.rbegin();
  EXPECT_TRUE(delivery.deliver(std::as_bytes(std::span(record)), fired));
  EXPECT_EQ(fired.probe, 2 * kSites);
  EXPECT_EQ(fired.first, kSites % 100);
}

TEST(Delivery, OnlyLikeRecordsOfOneProcessShareAGroup) {
  Delivery delivery;
  const RecordLayouts pair(layout(0b1), layout(0b11)), other(layout(0b1), layout(0b111));
  std::set<uint16_t> groups;
  for (int time = 1; time <= 2; time++)
    for (const RecordLayouts& each :
         {RecordLayouts(layout(0b1)), RecordLayouts(layout(0b10)), pair, other, RecordLayouts(layout(0b1, SiteKind::return_))})
      groups.insert(shared(delivery, each));
  groups.insert(shared(delivery, layout(0b1), {1, 0, 5}));
  groups.insert(shared(delivery, layout(0b1), {1}, kPid + 1));
  EXPECT_EQ(groups.size(), 7u);
  EXPECT_EQ(delivery.groups(), 9u);
  EXPECT_EQ(delivery.group(shared(delivery, other) + 1u).layout, *other.larger);
}

TEST(Delivery, SaysWhatThereIsNoRoomFor) {
  Delivery delivery;
  for (int32_t pid = 1; delivery.check_room(); pid++) shared(delivery, layout(0), {1}, pid);
  EXPECT_GE(delivery.groups() + 2, kMostGroups);
  EXPECT_EQ(shared(delivery, layout(0), {2}, 1), 0);
  const auto none = delivery.share(layout(0), 100'000, {1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message.find("there is room for 65535 kinds of records"), 0u) << none.error().message;
}

}  // namespace
}  // namespace dvm::runtime
