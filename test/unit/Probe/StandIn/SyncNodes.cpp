/// \file
/// External semaphores and memory operations of the stand-in: calls on streams, and nodes of
/// graphs. A semaphore has a value, which waits compare with theirs.

#include "unit/Probe/StandIn/Calls.h"

#include <chrono>
#include <thread>

using namespace carve::standin;

namespace {
struct Semaphore {
  std::mutex Lock;
  std::condition_variable Changed;
  uint64_t Value = 0;
};
using Effect = std::function<void(StreamState &)>;
} // namespace

static Semaphore *semaphore(CUexternalSemaphore Handle) {
  return reinterpret_cast<Semaphore *>(Handle);
}

uint64_t carve::standin::valueOf(CUexternalSemaphore Handle) {
  std::lock_guard<std::mutex> Guard(semaphore(Handle)->Lock);
  return semaphore(Handle)->Value;
}

STANDIN_API cuImportExternalSemaphore(CUexternalSemaphore *Out,
                                      const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *From) {
  return traced(CALL(cuImportExternalSemaphore){Out, From}, [](auto &P, unsigned) {
    *P.extSem_out = reinterpret_cast<CUexternalSemaphore>(new Semaphore);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuDestroyExternalSemaphore(CUexternalSemaphore Handle) {
  return traced(CALL(cuDestroyExternalSemaphore){Handle}, [](auto &P, unsigned) {
    delete semaphore(P.extSem);
    return CUDA_SUCCESS;
  });
}

/// Returns the work of all semaphores of \p P, with the value of each.
template <class P> static std::vector<std::pair<Semaphore *, uint64_t>> semaphoresOf(const P &Of) {
  std::vector<std::pair<Semaphore *, uint64_t>> All;
  for (unsigned I = 0; I < Of.numExtSems; ++I)
    All.emplace_back(semaphore(Of.extSemArray[I]), Of.paramsArray[I].params.fence.value);
  return All;
}

template <class P> static Effect signalOf(const P &Params) {
  return [All = semaphoresOf(Params)](StreamState &) {
    for (auto [Each, Value] : All) {
      std::lock_guard<std::mutex> Guard(Each->Lock);
      Each->Value = Value;
      Each->Changed.notify_all();
    }
  };
}

template <class P> static Effect waitOf(const P &Params) {
  return [All = semaphoresOf(Params)](StreamState &) {
    for (auto [Each, Least] : All) {
      std::unique_lock<std::mutex> Guard(Each->Lock);
      Each->Changed.wait(Guard, [S = Each, Value = Least] { return S->Value >= Value; });
    }
  };
}

static void operate(const CUstreamBatchMemOpParams &Op) {
  auto *Word = reinterpret_cast<unsigned *>(Op.writeValue.address); // NOLINT
  if (Op.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
    return __atomic_store_n(Word, Op.writeValue.value, __ATOMIC_SEQ_CST);
  // The comparison is that of CU_STREAM_WAIT_VALUE_GEQ.
  while (int(__atomic_load_n(Word, __ATOMIC_SEQ_CST) - Op.waitValue.value) < 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

static Effect operationsOf(unsigned Count, const CUstreamBatchMemOpParams *Array) {
  return [All = std::vector(Array, Array + Count)](StreamState &) {
    for (const CUstreamBatchMemOpParams &Op : All)
      operate(Op);
  };
}

Effect carve::standin::syncWorkOf(const CUgraphNodeParams &Params) {
  switch (Params.type) {
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    return signalOf(Params.extSemSignal);
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    return waitOf(Params.extSemWait);
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    return operationsOf(Params.memOp.count, Params.memOp.paramArray);
  default:
    return nullptr;
  }
}

static CUresult submitSync(CUstream Handle, CUgraphNodeType Type, Effect Run) {
  auto Stream = streamOf(Handle);
  if (!Stream)
    return CUDA_ERROR_INVALID_HANDLE;
  submit(Stream, std::move(Run), Type);
  return CUDA_SUCCESS;
}

STANDIN_API cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *Semaphores,
                                            const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *Params,
                                            unsigned Count, CUstream Stream) {
  return traced(CALL(cuSignalExternalSemaphoresAsync){Semaphores, Params, Count, Stream},
                [](auto &P, unsigned) {
                  return submitSync(P.stream, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, signalOf(P));
                });
}

STANDIN_API cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *Semaphores,
                                          const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *Params,
                                          unsigned Count, CUstream Stream) {
  return traced(CALL(cuWaitExternalSemaphoresAsync){Semaphores, Params, Count, Stream},
                [](auto &P, unsigned) {
                  return submitSync(P.stream, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, waitOf(P));
                });
}

STANDIN_API cuStreamBatchMemOp(CUstream Stream, unsigned Count, CUstreamBatchMemOpParams *Array,
                               unsigned Flags) {
  return traced(CALL(cuStreamBatchMemOp_v2){Stream, Count, Array, Flags}, [](auto &P, unsigned) {
    return submitSync(P.stream, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                      operationsOf(P.count, P.paramArray));
  });
}

static CUresult addSync(CUgraphNode *Out, CUgraph To, const CUgraphNode *After, size_t Count,
                        CUgraphNodeType Type, Effect Does) {
  GraphNode Node;
  Node.Type = Type;
  Node.Other = std::move(Does);
  return addNode(Out, To, After, Count, std::move(Node));
}

STANDIN_API cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *Out, CUgraph To,
                                                   const CUgraphNode *After, size_t Count,
                                                   const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *P) {
  return addSync(Out, To, After, Count, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, signalOf(*P));
}

STANDIN_API cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *Out, CUgraph To,
                                                 const CUgraphNode *After, size_t Count,
                                                 const CUDA_EXT_SEM_WAIT_NODE_PARAMS *P) {
  return addSync(Out, To, After, Count, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, waitOf(*P));
}

STANDIN_API cuGraphAddBatchMemOpNode(CUgraphNode *Out, CUgraph To, const CUgraphNode *After,
                                     size_t Count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *P) {
  return addSync(Out, To, After, Count, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                 operationsOf(P->count, P->paramArray));
}

template <class P> static CUresult changeSync(P &Params, CUgraphNodeType Type, const Effect &Does) {
  return changeNode(Params.hGraphExec, Params.hNode, Type,
                    [&](GraphNode &Node) { Node.Other = Does; });
}

STANDIN_API
cuGraphExecExternalSemaphoresSignalNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                                 const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *Params) {
  return traced(CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams){Of, Node, Params},
                [](auto &P, unsigned) {
                  return changeSync(P, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL,
                                    signalOf(*P.nodeParams));
                });
}

STANDIN_API
cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                               const CUDA_EXT_SEM_WAIT_NODE_PARAMS *Params) {
  return traced(CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams){Of, Node, Params},
                [](auto &P, unsigned) {
                  return changeSync(P, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, waitOf(*P.nodeParams));
                });
}

STANDIN_API cuGraphExecBatchMemOpNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                               const CUDA_BATCH_MEM_OP_NODE_PARAMS *Params) {
  return traced(CALL(cuGraphExecBatchMemOpNodeSetParams){Of, Node, Params}, [](auto &P, unsigned) {
    return changeSync(P, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                      operationsOf(P.nodeParams->count, P.nodeParams->paramArray));
  });
}
