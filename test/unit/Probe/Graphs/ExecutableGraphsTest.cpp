// What the program changes in an executable graph is followed, or keeps it a graph.
#include "Probe/Graphs/ExecutableGraphs.h"
#include "unit/Probe/Graphs/FakeGraphs.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

#define ID(Call) CUPTI_DRIVER_TRACE_CBID_##Call

namespace {
class ExecutableGraphsTest : public testing::Test {
protected:
  ExecutableGraphsTest() {
    Kernel.Kernel.func = First.handle();
    Kernel.Kernel.gridDimX = 1;
    Kernel.Kernel.kernelParams = Values;
    Inner.add(CU_GRAPH_NODE_TYPE_MEMSET);
    Source.add(CU_GRAPH_NODE_TYPE_GRAPH, {&Kernel}).Child = &Inner;
  }

  template <class P>
  std::shared_ptr<GraphCopy> call(CUpti_CallbackId Id, P Params, CUresult Result = CUDA_SUCCESS) {
    CUpti_CallbackData Data{};
    Data.callbackSite = CUPTI_API_EXIT;
    Data.functionParams = &Params;
    Data.functionReturnValue = &Result;
    return Graphs.note(Id, Data);
  }
  std::shared_ptr<GraphCopy> make(unsigned long long Flags = 0) {
    return call(ID(cuGraphInstantiateWithFlags),
                cuGraphInstantiateWithFlags_params{&Executable, Source.handle(), Flags});
  }
  const KernelWork &kernel() {
    return std::get<KernelWork>(Graphs.find(Executable)->find(Kernel.handle())->Work);
  }

  CuptiApi Cupti;
  DriverApi Driver = driverOfFakeGraphs();
  ExecutableGraphs Graphs{Cupti, Driver};
  FakeKernel First{"first"}, Second{"second"};
  FakeGraph Source, Inner;
  FakeNode &Kernel = Source.add(CU_GRAPH_NODE_TYPE_KERNEL);
  uint64_t Value = 0;
  void *Values[2] = {&Value, &Value};
  CUgraphExec Executable = reinterpret_cast<CUgraphExec>(&Inner);
};
} // namespace

TEST_F(ExecutableGraphsTest, instantiation_isSeenInEveryForm) {
  CUDA_GRAPH_INSTANTIATE_PARAMS Params{};
  EXPECT_FALSE(Graphs.find(Executable));
  EXPECT_EQ(make()->Nodes.size(), 2u);
  for (CUpti_CallbackId Id : {ID(cuGraphInstantiate), ID(cuGraphInstantiate_v2)})
    EXPECT_TRUE(call(Id, cuGraphInstantiate_params{&Executable, Source.handle(), {}, {}, {}}));
  for (CUpti_CallbackId Id :
       {ID(cuGraphInstantiateWithParams), ID(cuGraphInstantiateWithParams_ptsz)})
    EXPECT_TRUE(
        call(Id, cuGraphInstantiateWithParams_params{&Executable, Source.handle(), &Params}));
  call(ID(cuGraphExecDestroy), cuGraphExecDestroy_params{Executable});
  EXPECT_FALSE(Graphs.find(Executable));
  call(ID(cuGraphInstantiate), cuGraphInstantiate_params{&Executable, Source.handle(), {}, {}, {}},
       CUDA_ERROR_INVALID_VALUE);
  EXPECT_FALSE(Graphs.find(Executable));
}

TEST_F(ExecutableGraphsTest, graphForTheDevice_stays) {
  EXPECT_EQ(make(CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)->Stays, GraphStay::DeviceLaunch);
}

TEST_F(ExecutableGraphsTest, kernelParametersOfEveryVersion_areFollowed) {
  make();
  CUDA_KERNEL_NODE_PARAMS_v1 Old{};
  Old.func = Second.handle();
  Old.gridDimX = 5;
  Old.kernelParams = Values;
  call(ID(cuGraphExecKernelNodeSetParams),
       cuGraphExecKernelNodeSetParams_params{Executable, Kernel.handle(), &Old});
  EXPECT_EQ(kernel().Name, "second");
  EXPECT_EQ(kernel().Config.gridDimX, 5u);
  CUDA_KERNEL_NODE_PARAMS New = Kernel.Kernel;
  New.gridDimX = 6;
  call(ID(cuGraphExecKernelNodeSetParams_v2),
       cuGraphExecKernelNodeSetParams_v2_params{Executable, Kernel.handle(), &New});
  EXPECT_EQ(kernel().Name, "first");
  EXPECT_EQ(kernel().Config.gridDimX, 6u);
  CUgraphNodeParams Any{};
  Any.type = CU_GRAPH_NODE_TYPE_KERNEL;
  Any.kernel.func = Second.handle();
  Any.kernel.gridDimX = 7;
  Any.kernel.kernelParams = Values;
  call(ID(cuGraphExecNodeSetParams),
       cuGraphExecNodeSetParams_params{Executable, Kernel.handle(), &Any});
  EXPECT_EQ(kernel().Name, "second");
  EXPECT_EQ(kernel().Config.gridDimX, 7u);
  EXPECT_FALSE(Graphs.find(Executable)->Stays);
}

TEST_F(ExecutableGraphsTest, changeThatCannotBeFollowed_keepsTheGraph) {
  CUDA_MEMSET_NODE_PARAMS Fill{};
  auto Why = [&](auto Change) {
    make();
    Change();
    return Graphs.find(Executable)->Stays;
  };
  EXPECT_EQ(Why([&] {
              call(ID(cuGraphExecMemsetNodeSetParams),
                   cuGraphExecMemsetNodeSetParams_params{Executable, Kernel.handle(), &Fill, {}});
            }),
            GraphStay::UnknownUpdate)
      << "the node is no fill";
  EXPECT_EQ(Why([&] {
              FakeNode Other;
              call(ID(cuGraphNodeSetEnabled),
                   cuGraphNodeSetEnabled_params{Executable, Other.handle(), 0});
            }),
            GraphStay::UnknownUpdate)
      << "the node is none of the graph's";
  EXPECT_EQ(Why([&] {
              call(ID(cuGraphExecUpdate_v2),
                   cuGraphExecUpdate_v2_params{Executable, Source.handle(), nullptr},
                   CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
            }),
            GraphStay::UnknownUpdate)
      << "a refused update";
  auto Disable = [&] {
    call(ID(cuGraphNodeSetEnabled), cuGraphNodeSetEnabled_params{Executable, Kernel.handle(), 0});
    EXPECT_FALSE(Graphs.find(Executable)->Stays);
  };
  EXPECT_EQ(Why([&] {
              Disable();
              call(ID(cuGraphExecUpdate_v2),
                   cuGraphExecUpdate_v2_params{Executable, Source.handle(), nullptr});
            }),
            GraphStay::UnknownUpdate)
      << "whether the node stays disabled is not known";
  EXPECT_EQ(Why([&] {
              call(ID(cuGraphExecUpdate_v2),
                   cuGraphExecUpdate_v2_params{Executable, Source.handle(), nullptr});
            }),
            std::nullopt);
  EXPECT_EQ(Why([&] {
              FakeGraph Longer;
              Longer.add(CU_GRAPH_NODE_TYPE_MEMSET);
              Longer.add(CU_GRAPH_NODE_TYPE_MEMSET);
              call(ID(cuGraphExecChildGraphNodeSetParams),
                   cuGraphExecChildGraphNodeSetParams_params{Executable, Source.Nodes[1]->handle(),
                                                             Longer.handle()});
            }),
            GraphStay::UnknownUpdate)
      << "the child graph has another size";
}

TEST(ExecutableGraphs, callThatTheProbeDoesNotKnow_keepsAllGraphs) {
  CuptiApi Cupti;
  Cupti.GetCallbackName = [](CUpti_CallbackDomain, uint32_t Id, const char **Name) {
    *Name = Id == 997 ? "cuGraphExecUnheardOf" : Id == 998 ? "cuGraphExecGetUnheardOf" : "cuInit";
    return Id < 1000 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
  };
  DriverApi Driver = driverOfFakeGraphs();
  ExecutableGraphs Graphs(Cupti, Driver);
  EXPECT_EQ(Graphs.unknownCalls(), std::set<CUpti_CallbackId>{997});
  FakeGraph Source;
  auto Executable = reinterpret_cast<CUgraphExec>(&Source);
  cuGraphInstantiateWithFlags_params Params{&Executable, Source.handle(), 0};
  CUresult Result = CUDA_SUCCESS;
  CUpti_CallbackData Data{};
  Data.callbackSite = CUPTI_API_EXIT;
  Data.functionParams = &Params;
  Data.functionReturnValue = &Result;
  (void)Graphs.note(ID(cuGraphInstantiateWithFlags), Data);
  EXPECT_FALSE(Graphs.find(Executable)->Stays);
  (void)Graphs.note(997, Data);
  EXPECT_EQ(Graphs.find(Executable)->Stays, GraphStay::UnknownUpdate);
}
