// Parameters of system calls out of the text of the kernel's trace events.
#include "runtime/instrument/uprobe/system_calls.h"

#include <gtest/gtest.h>

namespace dvm::runtime {
namespace {

constexpr std::string_view kFormat = R"(name: sys_enter_openat
ID: 700
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int __syscall_nr;	offset:8;	size:4;	signed:1;
	field:int dfd;	offset:16;	size:8;	signed:0;
	field:const char * filename;	offset:24;	size:8;	signed:0;
	field:umode_t mode;	offset:40;	size:8;	signed:0;
	field:__data_loc char[] __filename_val;	offset:48;	size:4;	signed:0;

print fmt: "dfd: 0x%08lx", ((unsigned long)(REC->dfd))
)";

TEST(SystemCalls, ParametersAreTheFieldsBehindTheNumber) {
  const auto fields = parse_event_format(kFormat);
  ASSERT_EQ(fields.size(), 3u);
  EXPECT_EQ(fields[0].type + " " + fields[0].name, "int dfd");
  EXPECT_EQ(fields[1].type + " " + fields[1].name, "const char * filename");
  EXPECT_EQ(fields[2].type + " " + fields[2].name, "umode_t mode");
}

TEST(SystemCalls, AnyTextIsRead) {
  EXPECT_TRUE(parse_event_format("").empty());
  EXPECT_TRUE(parse_event_format("field:int __syscall_nr").empty());
  EXPECT_TRUE(parse_event_format("field:").empty());
  EXPECT_EQ(parse_event_format("field:int __syscall_nr;\nfield:;").size(), 1u);
}

void expect_type(std::string_view text, std::string_view keyword, std::string_view name, unsigned pointers) {
  const SpelledType type = parse_type(text);
  EXPECT_EQ(type.keyword, keyword) << text;
  EXPECT_EQ(type.name, name) << text;
  EXPECT_EQ(type.pointers, pointers) << text;
}

TEST(SystemCalls, TypesAreSpelledAsTheKernelsOwn) {
  expect_type("int", "", "int", 0);
  expect_type("unsigned", "", "unsigned int", 0);
  expect_type("unsigned long", "", "long unsigned int", 0);
  expect_type("long long", "", "long long int", 0);
  expect_type("const char *", "", "char", 1);
  expect_type("const char *const *", "", "char", 2);
  expect_type("const struct iovec *", "struct", "iovec", 1);
  expect_type("void *", "", "void", 1);
  expect_type("size_t", "", "size_t", 0);
  expect_type("constant_t", "", "constant_t", 0);
}

}  // namespace
}  // namespace dvm::runtime
