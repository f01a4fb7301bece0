"""What somebody who means ill would try, at every door there is."""
