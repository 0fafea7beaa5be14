// The format that the header Accept prefers.

#include "export/accept.h"

#include <gtest/gtest.h>

#include <string>

namespace dvm::exporting {
namespace {

const std::string kProtobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

TEST(Accept, ProtobufWhereItIsNamed) {
  for (const std::string& rest : {std::string(), std::string(";q=0.7"), std::string(",text/plain;version=0.0.4;q=0.5,*/*;q=0.1"),
                                  std::string(" ; q=0.5 , text/plain ;q=0.5")})
    EXPECT_TRUE(prefers_protobuf(kProtobuf + rest)) << rest;
  EXPECT_TRUE(prefers_protobuf("text/plain;q=0.4," + kProtobuf + ";q=0.6"));
  EXPECT_TRUE(prefers_protobuf("Application/VND.Google.Protobuf; Encoding=delimited; Proto=io.prometheus.client.MetricFamily"));
}

TEST(Accept, TextOtherwise) {
  for (const std::string& accept :
       {std::string(), std::string("*/*"), std::string("text/plain"), std::string(",;=,q=1;"), kProtobuf + ";q=0",
        kProtobuf + ";q=x", kProtobuf + ";q=0.5,text/plain", std::string("application/vnd.google.protobuf"),
        std::string("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text"),
        std::string("application/vnd.google.protobuf;proto=other;encoding=delimited")})
    EXPECT_FALSE(prefers_protobuf(accept)) << accept;
}

TEST(Accept, TheBestOfSeveralRangesCounts) {
  EXPECT_FALSE(prefers_protobuf(kProtobuf + ";q=0.5,text/plain;q=0.9,text/plain;version=0.0.4;q=0.1"));
  EXPECT_TRUE(prefers_protobuf(kProtobuf + ";q=0.9," + kProtobuf + ";q=0.1,text/plain;q=0.5"));
  EXPECT_TRUE(prefers_protobuf("text/plain;q=9," + kProtobuf));  // at most 1
}

}  // namespace
}  // namespace dvm::exporting
