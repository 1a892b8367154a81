#include "hostir/io/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "hostir/io/npz.h"

namespace hostir::io {
namespace {

std::span<const std::byte> bytes_of(const std::string& s) {
  return std::as_bytes(std::span(s.data(), s.size()));
}

Tensor sample(DType dtype, Extents extents) {
  Tensor t = Tensor::zeros(dtype, std::move(extents));
  for (int64_t i = 0; i < t.element_count(); ++i)
    t.set_int(i, (i * 7) % 2 == 0 ? i % 100 : -(i % 100));
  return t;
}

TEST(Npy, RoundTripsEveryDtypeAndRank) {
  for (const DType dtype : kAllDTypes) {
    for (const Extents& extents : {Extents{}, Extents{0}, Extents{5}, Extents{2, 3},
                                   Extents{2, 0, 3}, Extents{1, 2, 3, 4}}) {
      const Tensor t = sample(dtype, extents);
      const auto back = parse_npy(bytes_of(format_npy(t)));
      ASSERT_TRUE(back.has_value()) << name(dtype);
      EXPECT_EQ(*back, t) << name(dtype);
    }
  }
}

std::string with_header(const std::string& dict, const std::string& data) {
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size());
  out += '\x00';
  return out + dict + data;
}

TEST(Npy, ReadsFortranOrderAndBigEndian) {
  const std::string data("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\5\0\0\0\6", 24);
  const auto t = parse_npy(
      bytes_of(with_header("{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }\n", data)));
  ASSERT_TRUE(t.has_value());
  const int64_t expected[] = {1, 3, 5, 2, 4, 6};
  for (int64_t i = 0; i < 6; ++i) EXPECT_EQ(t->get_int(i), expected[i]);
}

TEST(Npy, ComplexNumbersHaveALastDimensionForTheirParts) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    const Tensor t = sample(dtype, {3, 2});
    const std::string text = format_complex_npy(t);
    EXPECT_NE(text.find(dtype == DType::kF32 ? "'<c8'" : "'<c16'"), std::string::npos);
    EXPECT_NE(text.find("(3,)"), std::string::npos);
    const auto back = parse_npy(bytes_of(text));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, t);
  }
  const std::string dict = "{'descr': '<c8', 'fortran_order': False, 'shape': (2,), }\n";
  EXPECT_FALSE(parse_npy(bytes_of(with_header(dict, std::string(15, '\0')))).has_value());
  EXPECT_FALSE(
      parse_npy(bytes_of(with_header("{'descr': '<c8', 'fortran_order': True, 'shape': (1, 2), }\n",
                                     std::string(16, '\0'))))
          .has_value());
}

TEST(Npy, ReadsWhatMlDtypesWrites) {
  const auto read = [](const std::string& descr, const std::string& data) {
    return parse_npy(bytes_of(with_header(
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }\n", data)));
  };
  const auto bf16 = read("<V2", std::string("\x80\x3f", 2));
  ASSERT_TRUE(bf16.has_value());
  EXPECT_EQ(bf16->dtype, DType::kBF16);
  EXPECT_EQ(bf16->get_double(0), 1);
  const auto f8 = read("float8_e4m3fn", "\x38");
  ASSERT_TRUE(f8.has_value());
  EXPECT_EQ(f8->dtype, DType::kF8E4M3);
  EXPECT_EQ(f8->get_double(0), 1);
  const auto wider = read("float8_e5m2", "\x3c");
  ASSERT_TRUE(wider.has_value());
  EXPECT_EQ(wider->dtype, DType::kF8E5M2);
  EXPECT_EQ(wider->get_double(0), 1);
  const auto bytes = read("|V1", "\x38");  // either format: the program says which
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(bytes->dtype, DType::kU8);
  const auto u4 = read("<u4", std::string("\xff\xff\xff\xff", 4));
  ASSERT_TRUE(u4.has_value());
  EXPECT_EQ(u4->dtype, DType::kU32);
  EXPECT_EQ(u4->get_int(0), 0xffffffffll);
}

TEST(Npy, DamageIsAnErrorNeverACrash) {
  const std::string good = format_npy(sample(DType::kF32, {3, 4}));
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_FALSE(parse_npy(bytes_of(good.substr(0, n))).has_value()) << n;
  }
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = good;
    damaged[random() % 80] = static_cast<char>(random());
    static_cast<void>(parse_npy(bytes_of(damaged)));
  }
}

TEST(Npz, RoundTrips) {
  const std::string path = testing::TempDir() + "hostir_npz_test.npz";
  const NamedTensors tensors = {{"x", sample(DType::kF32, {2, 3})},
                                {"w", sample(DType::kI64, {4})}};
  ASSERT_TRUE(write_npz(path, tensors).has_value());
  const auto back = read_npz(path);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, tensors);
  EXPECT_EQ(*read_npz_member(path, "w"), tensors[1].second);
  const auto missing = read_npz_member(path, "v");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message().find("x, w"), std::string::npos);
}

}  // namespace
}  // namespace hostir::io
