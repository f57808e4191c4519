# A Makefile with nvcc as CC and CXX: implicit rules, also for C and C++, and depfiles beside objects.
CC = nvcc
CXX = $(CC)
CXXFLAGS = -O2 -MMD -MP
CFLAGS = -O2 -DX=1
LDLIBS = -lcudart -lm
NVCCFLAGS = -arch=sm_90 -O2 -MMD -MP

all: app separable capp

%.o: %.cu
	$(CC) $(NVCCFLAGS) -c $< -o $@

app: main.o scale.o
	$(CC) -Xlinker --build-id=none $^ -o $@ $(LDLIBS)

separable: main.rdc.o caller.rdc.o callee.rdc.o
	$(CC) -arch=sm_90 -rdc=true -Xlinker --build-id=none $^ -o $@

%.rdc.o: %.cu
	$(CC) $(NVCCFLAGS) -dc $< -o $@

capp: capp.o
	$(CC) -Xlinker --build-id=none $^ -o $@

-include $(wildcard *.d)
