// The operations of one pipeline rank, with every buffer named, before they become host
// instructions.
#pragma once

#include "hostir/passes/pipeline/exchanges.h"
#include "hostir/passes/pipeline/stage.h"

namespace hostir::pipeline {

using BufferIndex = size_t;

struct RankBuffer {
  std::string name;
  ShardType type;
  bool owned = false;   // freed by this rank after its last use
  size_t last_use = 0;  // index of an op
  // A parameter of the host function, or a view of one micro-batch of it.
  std::optional<std::pair<int64_t, size_t>> parameter;  // stage and index
  std::optional<size_t> result;  // the buffer of this result of the host function
};

/// The gradients of a weight that several stages have.
struct TiedResults {
  ShardType type;                                   // of each gradient at the end
  std::vector<std::pair<int64_t, size_t>> members;  // stage and result, the owner first
};

struct Message {
  BufferIndex buffer = 0;
  int64_t peer = 0;
};

struct RankOp {
  enum class Kind : uint8_t { kView, kCall, kExchange, kAdd, kReduce } kind = Kind::kCall;
  Action action;                   // kCall, and the micro-batch of kView
  const Phase* phase = nullptr;    // kCall
  std::vector<BufferIndex> reads;  // kCall: arguments; kAdd, kView: one
  std::vector<BufferIndex> makes;  // kCall: results; kView: one
  std::vector<Message> sends;      // kExchange
  std::vector<Message> receives;
  size_t result = 0;            // kAdd: index of the host function's result
  bool first = false;           // kAdd: the sum is still empty
  bool whole = false;           // kAdd: of a batch, not of one micro-batch
  bool at_end = false;          // kExchange: of results, after all work on them
  std::vector<size_t> results;  // kReduce: those that are partial sums
};

struct RankOps {
  std::vector<RankBuffer> buffers;
  std::vector<RankOp> ops;
};

/// `results` gives, by stage and parameter, the index of the host function's result for the
/// gradient of a weight; the loss is result 0. `ties`: results to add up at the end.
RankOps plan_rank(const Schedule& schedule, const std::vector<Stage>& stages,
                  const std::vector<std::vector<size_t>>& results,
                  const std::vector<TiedResults>& ties, const RankSteps& steps, int64_t rank);

}  // namespace hostir::pipeline
