// Pickles of plain data: reads what torch and CPython write; rejects everything else by name.
#include "hostir/io/pickle.h"

#include <gtest/gtest.h>

#include <string>

namespace hostir::io {
namespace {

std::string from_hex(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

// Built by hand from the rules of torch's pickler.
constexpr std::string_view kVector =
    "80027d28580700000076657273696f6e71005804000000322e313071015807000000656e747269657371025d287d28"
    "58090000007265636f72645f696471034b00580d00000070726f636573735f67726f75707104580100000030710558"
    "0a00000064656661756c745f706771068658050000007374617465710758090000007363686564756c656471085"
    "80f00000074696d655f637265617465645f6e7371098a0800801d5623a58518581a00000074696d655f646973636f"
    "76657265645f737461727465645f6e73710a4e580700000072657469726564710b897565752e";

std::string error_of(const std::string& bytes) {
  const auto tree = read_pickle(bytes);
  return tree ? "" : tree.error().message();
}

TEST(Pickle, ConformanceVector) {
  const auto tree = read_pickle(from_hex(kVector));
  ASSERT_TRUE(tree) << tree.error().message();
  const PlainView root(*tree);
  EXPECT_EQ(root["version"].text(), "2.10");
  ASSERT_EQ(root["entries"].size(), 1U);
  const PlainView entry = root["entries"].at(0);
  EXPECT_EQ(entry["process_group"].at(0).text(), "0");
  EXPECT_EQ(entry["process_group"].at(1).text(), "default_pg");
  EXPECT_EQ(entry["state"].text(), "scheduled");
  EXPECT_EQ(entry["time_created_ns"].integer(), 1767000000000000000);
  EXPECT_TRUE(entry["time_discovered_started_ns"].is(PlainKind::kNone));
  EXPECT_EQ(entry["retired"].boolean(), false);
}

TEST(Pickle, EveryPrefixOfAFileIsRefused) {
  const std::string whole = from_hex(kVector);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_pickle(std::string_view(whole).substr(0, size))) << size;
  }
}

TEST(Pickle, NumbersOfEveryWidth) {
  // [1, 256, -1, 2**40, -2**40, 2**64 - 1, 1.5, True]
  const auto tree =
      read_pickle(from_hex("80025d284b014d00014affffffff8a0600000000"
                           "00018a06000000000"
                           "0ff8a09ffffffffffffffff0047"
                           "3ff800000000000088652e"));
  ASSERT_TRUE(tree) << tree.error().message();
  const PlainView list(*tree);
  ASSERT_EQ(list.size(), 8U);
  EXPECT_EQ(list.at(0).integer(), 1);
  EXPECT_EQ(list.at(1).integer(), 256);
  EXPECT_EQ(list.at(2).integer(), -1);
  EXPECT_EQ(list.at(3).integer(), int64_t{1} << 40);
  EXPECT_EQ(list.at(4).integer(), -(int64_t{1} << 40));
  EXPECT_EQ(list.at(5).text(), "18446744073709551615");
  EXPECT_EQ(list.at(6).real(), 1.5);
  EXPECT_EQ(list.at(7).boolean(), true);
}

TEST(Pickle, CPythonsOpcodes) {
  // pickle.dumps({'a': [1, (2,)], 'b': 'a'}, protocol=4)
  const auto tree =
      read_pickle(from_hex("80049518000000000000007d94288c0161945d94284b014b02859465"
                           "8c016294680175"
                           "2e"));
  ASSERT_TRUE(tree) << tree.error().message();
  const PlainView root(*tree);
  EXPECT_EQ(root["a"].at(1).at(0).integer(), 2);
  EXPECT_EQ(root["b"].text(), "a");
}

TEST(Pickle, WhatCouldRunIsRefusedByName) {
  // os.system("true"), as pickle writes it in protocols 2 and 4.
  EXPECT_NE(error_of(from_hex("8002636f730a73797374656d0a580400000074727565855"
                              "22e"))
                .find("opcode GLOBAL"),
            std::string::npos);
  EXPECT_NE(error_of(from_hex("80048c026f738c0673797374656d938c047472756585522e"))
                .find("opcode STACK_GLOBAL"),
            std::string::npos);
  for (const auto& [opcode, name] :
       {std::pair("52", "REDUCE"), std::pair("62", "BUILD"), std::pair("69", "INST"),
        std::pair("6f", "OBJ"), std::pair("81", "NEWOBJ"), std::pair("92", "NEWOBJ_EX"),
        std::pair("50", "PERSID"), std::pair("51", "BINPERSID"), std::pair("82", "EXT1"),
        std::pair("83", "EXT2"), std::pair("84", "EXT4"), std::pair("97", "NEXT_BUFFER")}) {
    const std::string error = error_of(from_hex(std::string("80024e") + opcode + "2e"));
    EXPECT_NE(error.find(std::string("opcode ") + name + " "), std::string::npos) << error;
  }
}

TEST(Pickle, ContainersThatCannotBeWalkedAreRefused) {
  // a = []; a.append(a)
  EXPECT_NE(error_of(from_hex("80025d710068006"
                              "12e"))
                .find("contains itself"),
            std::string::npos);
  std::string deep = from_hex("8002");
  for (int i = 0; i < 100; ++i) deep += ']';
  for (int i = 0; i < 99; ++i) deep += 'a';
  EXPECT_NE(error_of(deep + '.').find("deeper than 64"), std::string::npos);
}

TEST(Pickle, SharedListsDoNotExpandWithoutBound) {
  // Thirty lists, each containing the previous one ten times: 10^30 values in 400 bytes.
  std::string bomb = from_hex("80025d7100");
  for (int i = 0; i < 30; ++i) {
    const char from = static_cast<char>(i);
    bomb += "](";
    for (int k = 0; k < 10; ++k) bomb += std::string("h") + from;
    bomb += std::string("eq") + static_cast<char>(i + 1);
  }
  bomb = from_hex("8002") + "(" + bomb.substr(2) + "t.";
  EXPECT_NE(error_of(bomb).find("shared values"), std::string::npos) << error_of(bomb);
}

TEST(Pickle, LengthsBeyondTheFileAreRefused) {
  EXPECT_EQ(error_of(from_hex("800258ffffff00")), "the file ends too early (byte 7)");
  EXPECT_NE(error_of(from_hex("80028dffffffffffffff7f")).find("string of"), std::string::npos);
  EXPECT_EQ(error_of(from_hex("800495ffffffffffffffff2e")), "the file ends too early (byte 12)");
  EXPECT_NE(error_of(from_hex("80024e4e2e")).find("2 values on the stack"), std::string::npos);
  EXPECT_NE(error_of(from_hex("80026800")).find("memo has no entry 0"), std::string::npos);
}

}  // namespace
}  // namespace hostir::io
