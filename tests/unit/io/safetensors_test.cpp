#include "hostir/io/safetensors.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "hostir/io/tensor_file.h"

namespace hostir::io {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  std::string out;
  for (size_t i = 0; i < 8; ++i) out += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + data;
}

Expected<NamedTensors> read_text_of(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file.data(), file.size())));
}

NamedTensors one_of_each() {
  NamedTensors out;
  for (const DType dtype : kAllDTypes) {
    for (const Extents& extents : {Extents{}, Extents{0}, Extents{2, 3}}) {
      Tensor t = Tensor::zeros(dtype, extents);
      for (int64_t i = 0; i < t.element_count(); ++i) t.set_int(i, i % 2);
      std::string name = "w." + std::to_string(out.size());
      out.emplace_back(std::move(name), std::move(t));
    }
  }
  return out;
}

TEST(Safetensors, RoundTripsEveryDtypeAndRank) {
  const NamedTensors tensors = one_of_each();
  const auto back = read_text_of(format_safetensors(tensors));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, tensors);
}

TEST(Safetensors, ReadsTheExampleOfTheFormat) {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string file = file_of(header + "  ", std::string("\0\0\x80\x3f\0\0\0\xc0", 8));
  ASSERT_EQ(file.size(), 72u);
  const auto read = read_text_of(file);
  ASSERT_TRUE(read.has_value()) << read.error().message();
  ASSERT_EQ(read->size(), 1u);
  EXPECT_EQ(read->front().first, "w");
  EXPECT_EQ(read->front().second.get_double(0), 1);
  EXPECT_EQ(read->front().second.get_double(1), -2);
}

TEST(Safetensors, TheHeaderMayListTensorsInAnyOrder) {
  const auto read = read_text_of(
      file_of(R"({"b":{"data_offsets":[2,3],"shape":[1],"dtype":"U8"},"__metadata__":{"by":"x"},)"
              R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})",
              "\1\2\3"));
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(read->at(0).first, "a");
  EXPECT_EQ(read->at(1).second.get_int(0), 3);
}

struct Refused {
  const char* header;
  const char* why;
};

TEST(Safetensors, RefusesWhatDoesNotFit) {
  const std::string deep(100'000, '[');
  const Refused cases[] = {
      {"", "does not begin"},
      {"[]", "does not begin"},
      {"{", "not JSON"},
      {R"({"a":1})", "a number where"},
      {R"({"a":{"dtype":"F32"}})", "no data_offsets"},
      {R"({"a":{"shape":[1],"data_offsets":[0,8]}})", "has no dtype"},
      {R"({"a":{"dtype":"F4","shape":[1],"data_offsets":[0,8]}})", "not supported"},
      {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,9]}})", "expected 0 up to at most 8"},
      {R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[1,8]}})", "expected 0"},
      {R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[0,7]}})", "belong to no tensor"},
      {R"({"a":{"dtype":"U8","shape":[7],"data_offsets":[0,8]}})", "does not agree"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "expected 0"},
      {R"({"a":{"dtype":"U8","shape":[-8],"data_offsets":[0,8]}})", "negative"},
      {R"({"a":{"dtype":"U8","shape":[8.0],"data_offsets":[0,8]}})", "a fraction"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", "agree"},
      {R"({"a":{"dtype":"U8","shape":[18446744073709551615],"data_offsets":[0,8]}})", "huge"},
      {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8,9]}})", "more than 2"},
      {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},)"
       R"("a":{"dtype":"U8","shape":[0],"data_offsets":[8,8]}})",
       "twice"},
      {R"({"a":{"dtype":"U8","dtype":"I8","shape":[8],"data_offsets":[0,8]}})", "twice"},
      {R"({"a":{"dtype":"U8","shape":[[8]],"data_offsets":[0,8]}})", "a list"},
      {R"({"a":{"dtype":"U8","shape":{"x":1},"data_offsets":[0,8]}})", "an object"},
      {R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8],"more":1}})", "unknown field"},
      {R"({"a":{"dtype":"U8","shape":[5],"data_offsets":[0,5]},)"
       R"("b":{"dtype":"U8","shape":[4],"data_offsets":[4,8]}})",
       "expected 5"},
      {R"({"a":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}})", "other than 0 and 1"},
      {"{\"\xff\":1}", "not JSON"},
  };
  for (const Refused& refused : cases) {
    const auto read = read_text_of(file_of(refused.header, "\7\7\7\7\7\7\7\7"));
    ASSERT_FALSE(read.has_value()) << refused.header;
    EXPECT_NE(read.error().message().find(refused.why), std::string::npos)
        << refused.header << ": " << read.error().message();
  }
  EXPECT_FALSE(read_text_of(file_of(R"({"a":)" + deep, "")));
  EXPECT_FALSE(read_text_of("\xff\xff\xff\xff\xff\xff\xff\x7f{}"));
  EXPECT_FALSE(read_text_of("\1\0\0"));
}

// Each damaged file is refused, or its tensors can be written and read back.
TEST(Safetensors, DamagedFilesAreRefusedOrConsistent) {
  const std::string good = format_safetensors(one_of_each());
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same files every time
  size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string file = good;
    const size_t changes = 1 + random() % 3;
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = random() % std::min(file.size(), size_t{8} + 1600);
      switch (random() % 4) {
        case 0:
          file[at] = static_cast<char>(random());
          break;
        case 1:
          file.erase(at, 1 + random() % 9);
          break;
        case 2:
          file.insert(at, file.substr(random() % file.size(), random() % 40));
          break;
        default:
          file.resize(file.size() - std::min<size_t>(file.size(), random() % 50));
          break;
      }
      if (file.empty()) break;
    }
    const auto read = read_text_of(file);
    if (!read) {
      ++refused;
      continue;
    }
    const auto back = read_text_of(format_safetensors(*read));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, *read);
  }
  EXPECT_GT(refused, 150u);
}

TEST(Safetensors, IsChosenByTheNameOfTheFile) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "hostir_unit_io.safetensors").string();
  const NamedTensors tensors = one_of_each();
  ASSERT_TRUE(write_named_tensors(path, tensors));
  const auto all = read_named_tensors(path);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(*all, tensors);
  const auto one = read_tensor_file(path + "#w.2");
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(*one, tensors[2].second);
  const auto none = read_tensor_file(path + "#v");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message().find("no tensor \"v\"; it has w.0, w.1"), std::string::npos);
  EXPECT_FALSE(read_tensor_file(path));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hostir::io
