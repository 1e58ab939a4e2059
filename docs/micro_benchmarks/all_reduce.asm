# What does a sum over eight cores cost? Each layer sums so many rows of 512 bytes.
.tensor_core 128 128
.layer "4 KiB" all_reduce; .layer "64 KiB" all_reduce; .layer "1 MiB" all_reduce; .layer "4 MiB" all_reduce
tag 1; collective all_reduce cores=8 dst=0 src=0 rows=8
tag 2; collective all_reduce cores=8 dst=0 src=0 rows=128
tag 3; collective all_reduce cores=8 dst=0 src=0 rows=2048
tag 4; collective all_reduce cores=8 dst=0 src=0 rows=8192
tag 0; halt
