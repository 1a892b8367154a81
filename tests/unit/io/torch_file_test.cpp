// PyTorch's files: tensors are read, anything that names something else is refused.
#include "hostir/io/torch_file.h"

#include <gtest/gtest.h>

#include "hostir/io/files.h"
#include "hostir/io/pickle.h"

namespace hostir::io {
namespace {

// Written by tests/unit/io/make_pt.py.
const std::string kFolder = "tests/unit/io/pt/";

TEST(TorchFile, ReadsAStateDict) {
  const auto read = read_torch_file(kFolder + "state.pt");
  ASSERT_TRUE(read.has_value()) << read.error().message();
  ASSERT_EQ(read->size(), 4u);
  EXPECT_EQ(read->at(0).first, "model.w");
  const Tensor& w = read->at(0).second;
  EXPECT_EQ(w.extents, (Extents{2, 3}));
  EXPECT_EQ(w.get_double(5), 6);
  // The transposed view of the same storage, and a column of it from element 1 on.
  const Tensor& turned = read->at(1).second;
  EXPECT_EQ(turned.extents, (Extents{3, 2}));
  EXPECT_EQ(turned.get_double(1), 4);
  EXPECT_EQ(read->at(2).first, "model.column");
  EXPECT_EQ(read->at(2).second.get_double(1), 5);
  EXPECT_EQ(read->at(3).first, "steps.0");
  EXPECT_EQ(read->at(3).second.dtype, DType::kI64);
  EXPECT_EQ(read->at(3).second.get_int(0), 7);
}

TEST(TorchFile, ReadsWhatItWrites) {
  NamedTensors tensors;
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kF8E4M3,
                            DType::kF8E5M2, DType::kI64, DType::kI32, DType::kI16, DType::kI8,
                            DType::kU64, DType::kU32, DType::kU16, DType::kU8, DType::kI1}) {
    Tensor tensor = Tensor::zeros(dtype, {2, 3});
    tensor.set_double(4, 1);
    tensors.emplace_back("layer.0." + std::string(name(dtype)), std::move(tensor));
  }
  tensors.emplace_back("scalar", Tensor::zeros(DType::kF32, {}));
  tensors.emplace_back("empty", Tensor::zeros(DType::kF32, {0, 4}));
  const std::string path = ::testing::TempDir() + "/written.pt";
  ASSERT_TRUE(write_torch_file(path, tensors));
  const auto read = read_torch_file(path);
  ASSERT_TRUE(read.has_value()) << read.error().message();
  EXPECT_EQ(*read, tensors);
  ASSERT_TRUE(write_torch_file(path, {}));
  const auto none = read_torch_file(path);
  ASSERT_TRUE(none.has_value()) << none.error().message();
  EXPECT_TRUE(none->empty());
}

TEST(TorchFile, OneTensorNeedsNoOtherStorage) {
  Tensor tensor = Tensor::zeros(DType::kF32, {2});
  tensor.set_double(1, 7);
  const std::string path = ::testing::TempDir() + "/lazy.pt";
  ASSERT_TRUE(write_torch_file(path, {{"a", tensor}, {"b", tensor}}));
  auto bytes = read_file(path);
  ASSERT_TRUE(bytes.has_value());
  for (size_t at = 0; (at = bytes->find("data/1", at)) != std::string::npos; ++at)
    (*bytes)[at + 5] = 'x';
  ASSERT_TRUE(write_file(path, *bytes));
  const auto a = read_torch_tensor(path, "a");
  ASSERT_TRUE(a.has_value()) << a.error().message();
  EXPECT_EQ(*a, tensor);
  const auto b = read_torch_tensor(path, "b");
  ASSERT_FALSE(b.has_value());
  EXPECT_NE(b.error().message().find("storage \"1\" is missing"), std::string::npos)
      << b.error().message();
  EXPECT_FALSE(read_torch_file(path));
  const auto none = read_torch_tensor(path, "c");
  ASSERT_FALSE(none.has_value());
  EXPECT_NE(none.error().message().find("it has a, b"), std::string::npos)
      << none.error().message();
}

TEST(TorchFile, RefusesWhatIsNotATensor) {
  const std::pair<const char*, const char*> cases[] = {
      {"calls_system.pt", "names posix.system"},
      {"outside.pt", "does not lie within"},
      {"negative.pt", "does not lie within"},
      {"repeats.pt", "repeats a storage"},
      {"missing.pt", "storage \"9\" is missing"},
      {"complex.pt", "not supported"},
      {"big_endian.pt", "big-endian"},
  };
  for (const auto& [file, why] : cases) {
    const auto read = read_torch_file(kFolder + file);
    ASSERT_FALSE(read.has_value()) << file;
    EXPECT_NE(read.error().message().find(why), std::string::npos)
        << file << ": " << read.error().message();
  }
  EXPECT_FALSE(read_torch_file("tests/README.md"));
}

TEST(TorchFile, ADumpMayNotNameEvenTensors) {
  EXPECT_FALSE(
      read_pickle("\x80\x02"
                  "ccollections\nOrderedDict\n)R."));
}

// The names of a pickle with shared parts can be far longer than the file.
TEST(TorchFile, LongNamesAreRefused) {
  const std::string path = ::testing::TempDir() + "/long_name.pt";
  ASSERT_TRUE(
      write_torch_file(path, {{std::string(100'000, 'a'), Tensor::zeros(DType::kF32, {1})}}));
  const auto read = read_torch_file(path);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message().find("a name of 100000 bytes; at most 65536"), std::string::npos)
      << read.error().message();
}

}  // namespace
}  // namespace hostir::io
