// A sink in front of another one: forwards everything. A derived class overrides the events that it
// needs and forwards them by calling ForwardingSink's function.
#pragma once

#include "interp/core/trace_sink.h"

namespace hostir::interp {

class ForwardingSink : public TraceSink {
 public:
  /// `next` may be null; it is not owned.
  explicit ForwardingSink(TraceSink* next) : next_(next) {}

  void called(const CallRecord& record) override {
    if (next_ != nullptr) next_->called(record);
  }
  void issued(const IssuedRecord& record) override {
    if (next_ != nullptr) next_->issued(record);
  }
  void finished(const FinishedRecord& record) override {
    if (next_ != nullptr) next_->finished(record);
  }
  void value(const ValueSummary& summary) override {
    if (next_ != nullptr) next_->value(summary);
  }
  void decision(const DecisionRecord& record) override {
    if (next_ != nullptr) next_->decision(record);
  }
  void fault(const FaultRecord& record) override {
    if (next_ != nullptr) next_->fault(record);
  }
  void rank_state(const RankStateRecord& record) override {
    if (next_ != nullptr) next_->rank_state(record);
  }
  void loop_path(LoopPathId id, LoopPathId parent, CodeIndex loop, int64_t iteration) override {
    if (next_ != nullptr) next_->loop_path(id, parent, loop, iteration);
  }

 private:
  TraceSink* next_;
};

}  // namespace hostir::interp
