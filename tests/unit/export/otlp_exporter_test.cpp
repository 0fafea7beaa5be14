// The queue of records. Requests are tested from outside: tests/runtime/scenarios/test_otlp.py.

#include "export/otlp_exporter.h"

#include <gtest/gtest.h>

namespace dvm::exporting {
namespace {

LogRecord record_of(size_t bytes) {
  LogRecord record;
  record.text.assign(bytes, 'x');
  return record;
}

TEST(OtlpExporter, TheQueueIsBounded) {
  OtlpExporter exporter("http://127.0.0.1:9", {}, {}, [](const std::string&) {});  // it does not start
  const size_t bytes = record_of(1 << 16).bytes();
  for (size_t i = 0; i < kMostQueued / bytes + 10; i++) exporter.read(record_of(1 << 16));
  EXPECT_EQ(exporter.losses().queue_full, 10u);
  exporter.read(record_of(0));  // a small one may still find room
  const OtlpLosses losses = exporter.finish();
  EXPECT_EQ(losses.queue_full, 10u);
  EXPECT_EQ(losses.unsent, kMostQueued / bytes + 1);
}

TEST(OtlpExporter, OnlyTheLastSnapshotWaits) {
  OtlpExporter exporter("http://127.0.0.1:9", {}, {}, [](const std::string&) {});
  EXPECT_FALSE(exporter.losses().any());
  for (int i = 0; i < 1000; i++) exporter.publish(std::make_shared<const runtime::Snapshot>());
  EXPECT_EQ(losses_text(exporter.finish()), "the last metrics were not sent");
}

TEST(OtlpExporter, LossesAreSaidByKind) {
  EXPECT_EQ(losses_text({}), "");
  OtlpLosses losses;
  losses.queue_full = 1, losses.rejected = 2, losses.points = 3;
  EXPECT_EQ(losses_text(losses),
            "1 record found no room in the queue, 2 records were rejected, 3 values of metrics were rejected");
}

}  // namespace
}  // namespace dvm::exporting
