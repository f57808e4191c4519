# A Makefile with NVCC=, whose dependencies are a step of their own and whose objects lie in a directory.
NVCC ?= nvcc
NVCCFLAGS = -O3 -arch=sm_90 -Xcompiler "-Wall -fPIC" -DTEXT='"two words"'
OBJECTS = obj/scale.o obj/main.o

all: app app-by-g++ odir/scale.o libscale.a three.ptx

obj/%.o: %.cu obj/%.dep
	$(NVCC) $(NVCCFLAGS) -c $< -o $@

obj/%.dep: %.cu
	@mkdir -p obj
	$(NVCC) $(NVCCFLAGS) -M -MT 'obj/$*.o $@' -o $@ $<

app: $(OBJECTS)
	$(NVCC) -arch=sm_90 -Xlinker --build-id=none $^ -o $@

app-by-g++: host.o obj/scale.o
	g++ -Wl,--build-id=none $^ -o $@ -L$(CUDA_LIB) -lcudart_static -ldl -lrt -lpthread

host.o: host.cpp
	g++ -O2 -c $< -o $@

# Two inputs, named by a directory.
odir/scale.o: scale.cu callee.cu
	@mkdir -p odir
	$(NVCC) $(NVCCFLAGS) -c -odir odir scale.cu callee.cu

libscale.a: obj/scale.o
	$(NVCC) -lib $^ -o $@

three.ptx: scale.cu
	$(NVCC) -ptx -arch=sm_90 $< -o $@

-include $(wildcard obj/*.dep)
